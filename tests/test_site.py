"""The built site in a real browser: every internal link leads somewhere, no page has an error in the console,
asks the network for anything or is wider than a phone, and search finds what is there.

The site takes minutes to build, so the test opens one that is there: docs/_build, or what FASTURL_SITE names.
`.ci/run` builds it first.
"""

import os
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import chromium
import pytest

ROOT = Path(__file__).parents[1]
SITE = Path(os.environ.get("FASTURL_SITE", ROOT / "docs" / "_build")).resolve()
PHONE, DESKTOP = 390, 1280

if not (SITE / "index.html").exists():
    pytest.skip("there is no site: sphinx-build -W --keep-going docs docs/_build", allow_module_level=True)

PAGES = [
    page
    for page in sorted(SITE.rglob("*.html"))
    if not {"_static", "_sources", "_downloads"} & set(page.relative_to(SITE).parts)
]


class Links(HTMLParser):
    """The links of a page and the places in it that a link can lead to."""

    def __init__(self, page):
        super().__init__()
        self.links, self.places = [], {"", "top"}
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        about = dict(attributes)
        self.places.update(filter(None, (about.get("id"), about.get("name"))))
        if tag == "a" and about.get("href"):
            self.links.append(about["href"])
        elif tag in ("img", "script") and about.get("src"):
            self.links.append(about["src"])


PARSED = {page: Links(page) for page in PAGES}


@pytest.fixture(scope="module")
def browser():
    if chromium.PROGRAM is None:
        pytest.skip("there is no Chromium here: on Debian, apt-get install chromium")
    tab = chromium.Browser()
    yield tab
    tab.close()


def name_of(page):
    return page.relative_to(SITE).as_posix()


def test_the_site_has_the_pages_that_it_promises():
    names = {name_of(page) for page in PAGES}
    assert {"index.html", "tour.html", "theory.html", "gallery/index.html", "reference/index.html"} <= names
    assert len([name for name in names if re.fullmatch(r"gallery/\w+\.html", name)]) > 12
    assert "reference/fasturl.URL.html" in names


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_internal_link_leads_somewhere(page):
    broken = []
    for link in PARSED[page].links:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
        if target.is_dir():
            target /= "index.html"
        known = PARSED[target].places if target in PARSED else {unquote(parts.fragment)}
        if not target.exists() or unquote(parts.fragment) not in known:
            broken.append(link)
    assert broken == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_page_fits_a_phone_and_complains_of_nothing(browser, page):
    browser.open(page, width=PHONE, height=844)
    assert browser.problems == []
    assert [one for one in browser.requests if not one.startswith(("file:", "data:", "blob:"))] == []
    assert browser.value("document.documentElement.scrollWidth") <= PHONE
    assert browser.value("[...document.images].filter(one => one.complete && !one.naturalWidth).length") == 0


def test_following_a_link_opens_the_page(browser):
    browser.open(SITE / "index.html", width=DESKTOP)
    browser.value("document.querySelector('a[href=\"tour.html\"]').click()")
    browser.until("document.title.startsWith('A tour of ten minutes')")


def test_there_is_a_dark_mode(browser):
    grounds = []
    for dark in (False, True):
        browser.open(SITE / "theory.html", width=DESKTOP, dark=dark)
        grounds.append(browser.value("getComputedStyle(document.body).backgroundColor"))
    light, dark = [sum(map(int, re.findall(r"\d+", ground)[:3])) for ground in grounds]
    assert light > 600
    assert dark < 200


def test_search_finds_a_class(browser):
    browser.call("Page.navigate", url=(SITE / "search.html").as_uri() + "?q=PooledUCBVI")
    browser.until("document.querySelectorAll('#search-results li').length > 0")


def test_formulas_are_drawn_by_the_browser_itself(browser):
    browser.open(SITE / "theory.html", width=DESKTOP)
    assert browser.value("document.querySelectorAll('math').length") > 20
    assert browser.value("document.querySelector('math').getBoundingClientRect().height") > 5
