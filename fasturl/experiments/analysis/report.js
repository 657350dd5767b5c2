// The page about results. Python has written charts, tables and choices into the page, and Plotly draws the
// charts; this script filters, switches bands and themes, and makes keys do what the mouse does. Elements
// with data-cells belong to these cells, and are hidden while none of them passes the filter.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.documentElement;
  const systemDark = matchMedia("(prefers-color-scheme: dark)");
  const printing = matchMedia("print");
  const chosen = new Map(data.filters.map((filter) => [filter.key, new Set(filter.values)]));
  const cursors = new Map(); // figure: the x that the keyboard is at
  const stale = new Set(); // figures to draw when they come into view
  let band = data.bands[0].value;
  let cells = new Set(); // ids of those that pass the filter

  const chosenDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : systemDark.matches);
  const colour = (style) => (chosenDark() && !printing.matches ? style.dark : style.light);
  const chartOf = (figure) => data.charts[figure.dataset.chart];
  const plotOf = (figure) => figure.querySelector(".plot");

  // ---- drawing

  function rowsOf({ cells: owners, trace }) {
    return trace.x.map((_, i) => i).filter((i) => cells.has(owners[owners.length === 1 ? 0 : i]));
  }

  function traces(series, zorder) {
    const rows = rowsOf(series);
    const paint = colour(series.style);
    const pick = (values) => (Array.isArray(values) ? rows.map((i) => values[i]) : values);
    const picked = Object.entries(series.trace).map(([key, values]) => [key, pick(values)]);
    const trace = { ...Object.fromEntries(picked), name: series.label, zorder, textfont: { color: paint } };
    trace.line = { ...trace.line, color: paint };
    trace.marker = { ...trace.marker, color: paint, symbol: pick(trace.marker.symbol) };
    const [low, high] = (series.bands[band] ?? series.bands.any ?? []).map(pick);
    const { x, y } = trace;
    trace.hovertemplate ??= low ? "%{y:.3f} [%{customdata[0]:.3f}, %{customdata[1]:.3f}]" : "%{y:.3f}";
    trace.customdata ??= low?.map((edge, i) => [edge, high[i]]);
    if (!low) return [trace];
    if (trace.mode === "lines") {
      const edges = { x: [...x, ...x.toReversed()], y: [...high, ...low.toReversed()] };
      const shade = { mode: "none", fill: "toself", fillcolor: paint + "2B", hoverinfo: "skip" };
      return [{ ...edges, ...shade, zorder, name: series.label }, trace];
    }
    const lengths = (edge) => edge.map((value, i) => (value === null ? 0 : Math.abs(value - y[i])));
    const bars = { type: "data", symmetric: false, thickness: 1.4, width: 0, color: paint };
    return [{ ...trace, error_y: { ...bars, array: lengths(high), arrayminus: lengths(low) } }];
  }

  function layout(chart, plot, labels) {
    const fits = chart.fits.filter((fit) => labels.has(fit.label));
    const painted = ({ line }, style) => ({ ...line, color: colour(style) });
    const lines = fits.map(({ shape, style }) => ({ ...shape, line: painted(shape, style) }));
    const { xaxis, yaxis, shapes } = chart.layout;
    const axis = (own, zoomed) => ({ ...data.axis, ...own, range: [...(zoomed?.range ?? own.range)] });
    return {
      ...data.layout, ...chart.layout, shapes: [...shapes, ...lines],
      xaxis: axis(xaxis, plot.layout?.xaxis), yaxis: axis(yaxis, plot.layout?.yaxis),
      dragmode: matchMedia("(pointer: coarse)").matches ? false : "zoom", // a finger scrolls the page
    };
  }

  function draw(figure) {
    if (!stale.delete(figure)) return;
    const [chart, plot] = [chartOf(figure), plotOf(figure)];
    const visible = chart.series.filter((series) => rowsOf(series).length);
    const content = visible.flatMap((series, i) => traces(series, visible.length - i)); // first on top
    const isNew = !plot.data;
    const arrangement = layout(chart, plot, new Set(visible.map((series) => series.label)));
    Plotly.react(plot, content, arrangement, { responsive: true, displayModeBar: false, doubleClick: false });
    if (isNew) plot.on("plotly_doubleclick", () => reset(figure));
  }

  // ---- zooming and reading by key and button

  const setRanges = (plot, x, y) => Plotly.relayout(plot, { "xaxis.range": [...x], "yaxis.range": [...y] });

  function reset(figure) {
    const { xaxis, yaxis } = chartOf(figure).layout;
    cursors.delete(figure);
    Plotly.Fx.unhover(plotOf(figure));
    setRanges(plotOf(figure), xaxis.range, yaxis.range);
  }

  function zoom(figure, factor) {
    const plot = plotOf(figure);
    const [least, most] = chartOf(figure).layout.xaxis.range;
    const [from, to] = plot.layout.xaxis.range;
    const centre = cursors.get(figure) ?? (from + to) / 2;
    const [left, right] = [centre + (from - centre) * factor, centre + (to - centre) * factor];
    setRanges(plot, [Math.max(left, least), Math.min(right, most)], plot.layout.yaxis.range);
  }

  function read(figure, step) {
    const plot = plotOf(figure);
    const axis = plot.layout.xaxis;
    const series = plot.data.filter((trace) => trace.hoverinfo !== "skip");
    const inside = (x) => x >= axis.range[0] && x <= axis.range[1];
    const xs = [...new Set(series.flatMap((trace) => trace.x))].filter(inside).sort((a, b) => a - b);
    if (!xs.length) return;
    const before = step > 0 ? -1 : xs.length;
    const now = cursors.has(figure) ? xs.indexOf(cursors.get(figure)) : before;
    const x = xs[Math.min(Math.max(now + step, 0), xs.length - 1)];
    cursors.set(figure, x);
    Plotly.Fx.hover(plot, { xval: x }, "xy");
    const words = series.filter((trace) => trace.x.includes(x)).map((trace) => {
      const i = trace.x.indexOf(x);
      const more = trace.customdata?.[i];
      if (typeof more === "string") return `${trace.name} ${more}`;
      const interval = more ? ` [${more.map((edge) => edge.toFixed(3)).join(", ")}]` : "";
      return `${trace.name} ${trace.y[i].toFixed(3)}${interval}`;
    });
    const place = axis.ticktext?.[axis.tickvals.indexOf(x)] ?? `${axis.title.text} ${x}`;
    document.getElementById("reading").textContent = `${place}: ${words.join("; ")}`;
  }

  const actions = {
    ArrowRight: (figure) => read(figure, 1),
    ArrowLeft: (figure) => read(figure, -1),
    "+": (figure) => zoom(figure, 0.5),
    "=": (figure) => zoom(figure, 0.5),
    "-": (figure) => zoom(figure, 2),
    0: reset,
    Escape: reset,
  };
  function act(figure, name) {
    draw(figure); // a chart that has not been in view yet
    if (plotOf(figure).data) actions[name](figure);
  }
  for (const figure of document.querySelectorAll(".panel")) {
    const plot = plotOf(figure);
    for (const button of figure.querySelectorAll("button"))
      button.addEventListener("click", () => act(figure, button.value));
    plot.addEventListener("keydown", (event) => {
      if (!actions[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      act(figure, event.key);
    });
    plot.addEventListener("blur", () => plot.data && Plotly.Fx.unhover(plot));
  }

  // ---- the page

  const whenVisible = (entries) => entries.forEach((entry) => entry.isIntersecting && draw(entry.target));
  const observer = new IntersectionObserver(whenVisible, { rootMargin: "300px" });

  function showSection(section) {
    for (const figure of section.querySelectorAll(".panel")) {
      const xs = chartOf(figure).series.flatMap((series) => rowsOf(series).map((i) => series.trace.x[i]));
      figure.hidden ||= section.id !== "curves" && new Set(xs).size < 2; // one horizon is no axis
      if (figure.hidden) continue;
      stale.add(figure);
      observer.unobserve(figure); // the observer then tells again whether it is in view
      observer.observe(figure);
      if (printing.matches) draw(figure);
    }
    section.hidden = section.id !== "curves" && !section.querySelector(".panel:not([hidden])");
  }

  function show() {
    const allows = (values, value) => value === null || values.has(value);
    const passes = (cell) => [...chosen].every(([key, values]) => allows(values, cell[key]));
    cells = new Set(data.cells.filter(passes).map((cell) => cell.id));
    for (const part of document.querySelectorAll("[data-cells]"))
      part.hidden = !part.dataset.cells.split(" ").some((id) => cells.has(id));
    document.querySelectorAll("section.charts").forEach(showSection);
    document.getElementById("band-name").textContent = data.bands.find((one) => one.value === band).meaning;
    const count = `${cells.size} of ${data.cells.length} cells are shown.`;
    document.getElementById("count").textContent = cells.size ? count : "Nothing matches the filter.";
  }

  function listen(id, event, act) {
    document.getElementById(id).addEventListener(event, ({ target }) => (act(target), show()));
  }
  listen("filter", "change", (box) => chosen.get(box.name)[box.checked ? "add" : "delete"](box.value));
  listen("band", "change", (button) => (band = button.value));
  listen("theme", "click", () => (root.dataset.theme = chosenDark() ? "light" : "dark"));
  for (const query of [systemDark, printing]) query.addEventListener("change", show);

  // Plotly lies in the page compressed, to less than half of its size
  async function start() {
    const text = atob(document.getElementById("plotly").textContent);
    const packed = Uint8Array.from(text, (character) => character.charCodeAt(0));
    const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const library = document.createElement("script");
    library.textContent = await new Response(unpacked).text();
    document.head.append(library);
    show();
    root.dataset.ready = "";
  }
  start();
})();
