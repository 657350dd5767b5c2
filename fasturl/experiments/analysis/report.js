"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const SVG = "http://www.w3.org/2000/svg";
  const MARGIN = { top: 8, right: 10, bottom: 34, left: 46 };

  function add(parent, name, attributes = {}, text) {
    const inSvg = name === "svg" || parent.namespaceURI === SVG;
    const child = inSvg ? document.createElementNS(SVG, name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) child.setAttribute(key, value);
    if (text !== undefined) child.textContent = text;
    parent.append(child);
    return child;
  }

  // ---- numbers and axes

  function short(value) {
    if (Math.abs(value) >= 1e6) return +(value / 1e6).toPrecision(4) + "M";
    if (Math.abs(value) >= 1e3) return +(value / 1e3).toPrecision(4) + "k";
    return String(+value.toPrecision(4));
  }
  const whole = (value) => Math.round(value).toLocaleString("en");
  const percent = (value) => (100 * value).toFixed(0) + "%";
  const reward = (value) => value.toFixed(3);

  function ticks([from, to], log, wanted) {
    const found = [];
    if (log) {
      const decades = Math.log10(to / from);
      const steps = decades > 3 ? [1] : [1, 2, 5];
      for (let power = Math.floor(Math.log10(from)); power <= Math.log10(to); power++)
        for (const step of steps) found.push(step * 10 ** power);
    } else {
      const rough = (to - from) / wanted;
      const power = 10 ** Math.floor(Math.log10(rough));
      const step = power * [1, 2, 5, 10].find((multiple) => multiple * power >= rough);
      for (let i = Math.ceil(from / step); i * step <= to + step * 1e-9; i++) found.push(+(i * step).toPrecision(12));
    }
    return found.filter((tick) => tick >= from * (1 - 1e-9) && tick <= to * (1 + 1e-9));
  }

  function scale([from, to], [start, end], log) {
    const f = log ? Math.log : (value) => value;
    const back = log ? Math.exp : (value) => value;
    const per = (end - start) / (f(to) - f(from));
    const place = (value) => start + (f(value) - f(from)) * per;
    place.invert = (pixel) => back(f(from) + (pixel - start) / per);
    return place;
  }

  function nearest(values, wanted) {
    let best = 0;
    for (let i = 1; i < values.length; i++) if (Math.abs(values[i] - wanted) < Math.abs(values[best] - wanted)) best = i;
    return best;
  }

  // ---- one figure: drawn anew at each width, zoom or move of the cursor line

  const zooms = new Map();
  let clips = 0;

  class Chart {
    constructor(host, spec) {
      this.spec = spec;
      this.at = null;
      this.brush = null;
      const figure = add(host, "figure", { class: "panel" });
      const caption = add(figure, "figcaption");
      add(caption, "span", {}, spec.title);
      const tools = add(caption, "span", { class: "tools screen-only" });
      for (const [sign, name, act] of [
        ["+", "Zoom in", () => this.zoomBy(0.5)],
        ["−", "Zoom out", () => this.zoomBy(2)],
        ["⟲", "Reset zoom", () => this.setZoom(null)],
      ])
        add(tools, "button", { type: "button", title: name, "aria-label": `${name}: ${spec.title}` }, sign).addEventListener("click", act);
      this.plot = add(figure, "div", { class: "plot", tabindex: "0", role: "group", "aria-label": this.inWords() });
      this.tip = add(this.plot, "div", { class: "tip", role: "status", hidden: "" });
      this.listen();
      const fits = spec.series.filter((one) => one.slope);
      if (fits.length) {
        const list = add(figure, "ul", { class: "fits" });
        for (const one of fits) add(list, "li", { style: `--colour:${one.colour}` }, `${one.label}: slope ${one.slope}`);
      }
      new ResizeObserver(() => this.draw()).observe(this.plot);
    }

    inWords() {
      const { spec } = this;
      const ends = spec.series.map((one) => `${one.label} ${spec.yText(one.y[one.y.length - 1])}`);
      return `${spec.title}: ${spec.yName} against ${spec.xName}. At the right end: ${ends.join(", ")}.`;
    }

    get zoom() {
      return zooms.get(this.spec.key) || { x: this.spec.x, y: this.spec.y };
    }

    setZoom(zoom) {
      if (zoom === null) zooms.delete(this.spec.key);
      else {
        const inside = ([from, to], [least, most]) => [Math.max(from, least), Math.min(to, most)];
        const next = { x: inside(zoom.x, this.spec.x), y: inside(zoom.y, this.spec.y) };
        if (!(next.x[1] > next.x[0] && next.y[1] > next.y[0])) return;
        zooms.set(this.spec.key, next);
      }
      this.draw();
    }

    zoomBy(factor) {
      const { x, y } = this.zoom;
      const around = this.at === null ? this.sx.invert((this.left + this.right) / 2) : this.at;
      const pixel = this.sx(around);
      const from = pixel - (pixel - this.left) * factor;
      const to = pixel + (this.right - pixel) * factor;
      const next = { x: [this.sx.invert(from), this.sx.invert(to)], y };
      const full = this.spec.x;
      this.setZoom(next.x[0] <= full[0] && next.x[1] >= full[1] ? null : next);
    }

    draw() {
      const { spec } = this;
      const width = Math.max(240, this.plot.clientWidth);
      const height = Math.round(Math.min(300, Math.max(190, width * 0.6)));
      const { x, y } = this.zoom;
      this.left = MARGIN.left;
      this.right = width - MARGIN.right;
      this.top = MARGIN.top;
      this.bottom = height - MARGIN.bottom;
      const sx = (this.sx = scale(x, [this.left, this.right], spec.xLog));
      const sy = (this.sy = scale(y, [this.bottom, this.top], spec.yLog));
      this.svg?.remove();
      const svg = (this.svg = add(this.plot, "svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" }));
      this.plot.prepend(svg);

      for (const tick of ticks(y, spec.yLog, 5)) {
        add(svg, "line", { class: "grid", x1: this.left, x2: this.right, y1: sy(tick), y2: sy(tick) });
        add(svg, "text", { x: this.left - 6, y: sy(tick) + 4, "text-anchor": "end" }, spec.yTick(tick));
      }
      const own = spec.xTicks?.filter((tick) => tick >= x[0] && tick <= x[1]);
      for (const tick of own?.length ? own : ticks(x, spec.xLog, width / 90)) {
        add(svg, "line", { class: "axis", x1: sx(tick), x2: sx(tick), y1: this.bottom, y2: this.bottom + 4 });
        add(svg, "text", { x: sx(tick), y: this.bottom + 15, "text-anchor": "middle" }, short(tick));
      }
      add(svg, "text", { x: (this.left + this.right) / 2, y: height - 4, "text-anchor": "middle" }, spec.xName);
      add(svg, "text", { transform: `translate(10 ${(this.top + this.bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, spec.yName);
      add(svg, "path", { class: "axis", d: `M${this.left},${this.top}V${this.bottom}H${this.right}` });

      const clip = `clip-${clips++}`;
      const frame = { x: this.left, y: this.top - 4, width: this.right - this.left + 5, height: this.bottom - this.top + 5 };
      add(add(svg, "clipPath", { id: clip }), "rect", frame);
      const inner = add(svg, "g", { "clip-path": `url(#${clip})` });
      if (spec.best !== undefined) {
        add(inner, "line", { class: "best", x1: this.left, x2: this.right, y1: sy(spec.best), y2: sy(spec.best) });
        add(inner, "text", { x: this.right - 2, y: sy(spec.best) - 3, "text-anchor": "end" }, "V*");
      }
      // the agents that are named first lie on top
      for (const one of [...spec.series].reverse()) this.drawSeries(inner, one);
      if (this.at !== null) this.drawCursor(inner);
      if (this.brush) {
        const [a, b, c, d] = this.brush;
        add(inner, "rect", { class: "brush", x: Math.min(a, c), width: Math.abs(c - a), y: Math.min(b, d), height: Math.abs(d - b) });
      }
    }

    drawSeries(inner, one) {
      const { sx, sy, spec } = this;
      const group = add(inner, "g", { class: "series", style: `--colour:${one.colour}`, "data-label": one.label });
      const point = (value, i) => `${(sx(one.x[i]) + (one.shift || 0)).toFixed(1)},${sy(value).toFixed(1)}`;
      if (spec.bars) {
        if (one.fit) add(group, "path", { class: "line", "stroke-dasharray": one.dash, d: "M" + one.fit.map(([a, b]) => `${sx(a)},${sy(b)}`).join("L") });
        else if (!one.hasFit) add(group, "path", { class: "line", "stroke-dasharray": one.dash, d: "M" + one.y.map(point).join("L") });
        one.x.forEach((at, i) => {
          const px = sx(at) + one.shift;
          if (one.censored?.[i]) {
            add(group, "path", { class: "dot", d: `M${px - 5},${sy(one.y[i]) + 5}h10l-5,-9z` });
            return;
          }
          if (!one.unsure?.[i]) add(group, "path", { class: "bar", d: `M${px},${sy(one.low[i])}V${sy(one.high[i])}` });
          add(group, "circle", { class: "dot", cx: px, cy: sy(one.y[i]), r: 4 });
        });
        return;
      }
      if (one.x.length === 1) {
        // a line of one point has no length
        const px = sx(one.x[0]);
        if (one.low) add(group, "path", { class: "bar", d: `M${px},${sy(one.low[0])}V${sy(one.high[0])}` });
        add(group, "circle", { class: "dot", cx: px, cy: sy(one.y[0]), r: 4 });
        return;
      }
      if (one.low) {
        const edge = [...one.high.map(point), ...one.low.map(point).reverse()];
        add(group, "path", { class: "band", d: `M${edge.join("L")}Z` });
      }
      add(group, "path", { class: "line", "stroke-dasharray": one.dash, d: "M" + one.y.map(point).join("L") });
    }

    drawCursor(inner) {
      const { sx, sy, spec } = this;
      add(inner, "line", { class: "cursor", x1: sx(this.at), x2: sx(this.at), y1: this.top, y2: this.bottom });
      this.tip.hidden = false;
      this.tip.replaceChildren();
      add(this.tip, "b", {}, `${spec.xName} ${whole(this.at)}`);
      const rows = add(this.tip, "div");
      for (const one of spec.series) {
        const i = nearest(one.x, this.at);
        if (spec.bars ? one.x[i] !== this.at : this.at > one.x[one.x.length - 1]) continue;
        if (!spec.bars) add(inner, "circle", { class: "dot", style: `--colour:${one.colour}`, cx: sx(one.x[i]), cy: sy(one.y[i]), r: 3.5 });
        add(rows, "i", { style: `--colour:${one.colour}` });
        add(rows, "span", {}, one.label);
        const missing = one.censored?.[i];
        add(rows, "span", {}, missing ? `over ${spec.yText(one.y[i])}` : spec.yText(one.y[i]));
        add(rows, "span", {}, one.low && !missing ? spec.intervalText(one, i) : one.note ? one.note[i] : "");
      }
      const room = this.plot.clientWidth;
      const share = room / (this.right + MARGIN.right);
      const wide = this.tip.offsetWidth;
      const place = sx(this.at) * share;
      const wanted = place + 12 + wide <= room ? place + 12 : place - 12 - wide;
      this.tip.style.left = `${Math.min(Math.max(2, wanted), Math.max(2, room - wide - 2))}px`;
    }

    setCursor(value) {
      this.at = value;
      if (value === null) this.tip.hidden = true;
      this.draw();
    }

    snap(value) {
      const xs = this.spec.series.flatMap((one) => one.x).filter((at) => at >= this.zoom.x[0] && at <= this.zoom.x[1]);
      return xs.length ? xs[nearest(xs, value)] : null;
    }

    where(event) {
      const box = this.svg.getBoundingClientRect();
      const share = (this.right + MARGIN.right) / box.width;
      return [(event.clientX - box.left) * share, (event.clientY - box.top) * share];
    }

    listen() {
      const { plot } = this;
      let start = null;
      plot.addEventListener("pointerdown", (event) => {
        if (event.button !== 0) return;
        start = this.where(event);
        plot.setPointerCapture(event.pointerId);
        this.setCursor(this.snap(this.sx.invert(start[0])));
      });
      plot.addEventListener("pointermove", (event) => {
        const [px, py] = this.where(event);
        if (start && Math.abs(px - start[0]) > 4) {
          // a drag that is nearly level zooms along x alone
          const level = Math.abs(py - start[1]) < 25;
          this.brush = [start[0], level ? this.top : start[1], px, level ? this.bottom : py];
        }
        this.setCursor(this.snap(this.sx.invert(px)));
      });
      const end = (event) => {
        const brush = this.brush;
        start = this.brush = null;
        if (event.type === "pointerup" && brush && Math.abs(brush[2] - brush[0]) > 8) {
          const clamp = (pixel, least, most) => Math.min(Math.max(pixel, least), most);
          const xs = [brush[0], brush[2]].map((pixel) => this.sx.invert(clamp(pixel, this.left, this.right)));
          const ys = [brush[1], brush[3]].map((pixel) => this.sy.invert(clamp(pixel, this.top, this.bottom)));
          this.setZoom({ x: [Math.min(...xs), Math.max(...xs)], y: [Math.min(...ys), Math.max(...ys)] });
        } else this.draw();
      };
      plot.addEventListener("pointerup", end);
      plot.addEventListener("pointercancel", end);
      // a finger leaves when it is lifted: what it found stays until another place is touched
      plot.addEventListener("pointerleave", (event) => event.pointerType === "touch" || this.setCursor(null));
      plot.addEventListener("blur", () => this.setCursor(null));
      plot.addEventListener("dblclick", () => this.setZoom(null));
      plot.addEventListener("keydown", (event) => this.key(event));
    }

    key(event) {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step) {
        const xs = [...new Set(this.spec.series.flatMap((one) => one.x))].sort((a, b) => a - b);
        const seen = xs.filter((at) => at >= this.zoom.x[0] && at <= this.zoom.x[1]);
        if (!seen.length) return;
        const now = this.at === null ? (step > 0 ? -1 : seen.length) : nearest(seen, this.at);
        this.setCursor(seen[Math.min(Math.max(now + step, 0), seen.length - 1)]);
      } else if (event.key === "+" || event.key === "=") this.zoomBy(0.5);
      else if (event.key === "-") this.zoomBy(2);
      else if (event.key === "Escape" || event.key === "0") {
        this.at = null;
        this.tip.hidden = true;
        this.setZoom(null);
      } else return;
      event.preventDefault();
    }
  }

  // ---- what is shown

  const chosen = new Map(data.filters.map((filter) => [filter.key, new Set(filter.values)]));
  let band = "std";

  function choices(host, type, name, values, initially, changed) {
    for (const value of values) {
      const label = add(host, "label");
      const input = add(label, "input", { type, name, value: value.value });
      input.checked = initially(value.value);
      label.append(value.text);
      input.addEventListener("change", () => changed(value.value, input.checked));
    }
  }

  const passes = (cell) => [...chosen].every(([key, values]) => values.has(cell.filter[key]));

  function grouped(cells, key) {
    const groups = new Map();
    for (const cell of cells) {
      if (!groups.has(key(cell))) groups.set(key(cell), []);
      groups.get(key(cell)).push(cell);
    }
    return groups;
  }

  const colourOf = (cell) => `light-dark(${cell.look.light}, ${cell.look.dark})`;

  function curveOf(cell) {
    const { trajectories: x, mean: y, std, low, high } = cell.curve;
    const edges =
      band === "std" ? { low: y.map((m, i) => m - std[i]), high: y.map((m, i) => m + std[i]) } : band === "ci" ? { low, high } : {};
    return { label: cell.label, colour: colourOf(cell), dash: cell.look.dash, x, y, std, ...edges };
  }

  function curveSpec(place, cells) {
    const best = Math.max(...cells.map((cell) => cell.v_star));
    return {
      key: `curves ${place}`, title: place, series: cells.map(curveOf), best,
      x: [0, Math.max(...cells.map((cell) => cell.curve.trajectories.at(-1)))], y: [0, best * 1.12],
      xName: "number of trajectories", yName: "average reward", yText: reward, yTick: short,
      intervalText: (one, i) => (band === "std" ? `± ${reward(one.std[i])}` : `[${reward(one.low[i])}, ${reward(one.high[i])}]`),
    };
  }

  function pointsSpec(kind, place, cells) {
    const horizons = [...new Set(cells.map((cell) => cell.horizon))].sort((a, b) => a - b);
    const groups = [...grouped([...cells].sort((a, b) => a.rank - b.rank), (cell) => cell.label)];
    const success = kind === "success";
    const series = groups.map(([label, members], position) => {
      members.sort((a, b) => a.horizon - b.horizon);
      const one = { label, colour: colourOf(members[0]), dash: members[0].look.dash, x: members.map((cell) => cell.horizon) };
      one.shift = (position - (groups.length - 1) / 2) * 5;
      if (success) {
        one.y = members.map((cell) => cell.success.rate);
        one.low = members.map((cell) => cell.success.low);
        one.high = members.map((cell) => cell.success.high);
        return one;
      }
      one.hasFit = true;
      one.censored = members.map((cell) => cell.needed.median === null);
      one.y = members.map((cell) => cell.needed.median ?? cell.trajectories);
      // without an interval, for want of seeds, the bar is the point
      one.unsure = members.map((cell) => cell.needed.low === null);
      one.low = members.map((cell, i) => (one.unsure[i] ? one.y[i] : Math.max(1, cell.needed.low)));
      one.high = members.map((cell, i) => (one.unsure[i] ? one.y[i] : cell.needed.high ?? cell.trajectories));
      one.note = members.map((cell) => `${cell.needed.reached} of ${cell.seeds} seeds got there`);
      const fit = data.slopes[`${place}|${label}`];
      if (fit) {
        one.fit = fit.ends;
        one.slope = fit.text;
      }
      return one;
    });
    const [least, most] = [horizons[0], horizons.at(-1)];
    const room = Math.max((most - least) * 0.08, 0.4);
    const all = series.flatMap((one) => [...one.low, ...one.high, ...one.y]);
    return {
      key: `${kind} ${place}`, title: place, series, bars: true, xTicks: horizons,
      x: success ? [least - room, most + room] : [least / 1.15, most * 1.15],
      y: success ? [-0.04, 1.04] : [Math.min(...all) / 1.3, Math.max(...all) * 1.3],
      xLog: !success, yLog: !success, xName: "horizon",
      yName: success ? "success rate" : "trajectories", yText: success ? percent : whole, yTick: success ? percent : short,
      intervalText: (one, i) =>
        one.unsure?.[i] ? "too few seeds for an interval"
        : success ? `[${percent(one.low[i])}, ${percent(one.high[i])}]` : `[${whole(one.low[i])}, ${whole(one.high[i])}]`,
    };
  }

  function section(id, groups, spec) {
    const host = document.getElementById(id);
    host.hidden = groups.size === 0;
    const panels = host.querySelector(".panels");
    const legend = host.querySelector(".legend");
    panels.replaceChildren();
    legend.replaceChildren();
    const looks = new Map();
    for (const [place, cells] of groups) {
      for (const cell of cells) looks.set(cell.label, cell);
      new Chart(panels, spec(place, cells));
    }
    for (const [label, cell] of [...looks].sort(([, a], [, b]) => a.rank - b.rank)) {
      const item = add(legend, "li");
      const sample = add(item, "svg", { viewBox: "0 0 36 12", "aria-hidden": "true", style: `--colour:${colourOf(cell)}` });
      add(sample, "path", { class: "line", "stroke-dasharray": cell.look.dash, d: "M0,6H36" });
      item.append(label);
    }
  }

  function show() {
    const cells = data.cells.filter(passes);
    const horizons = new Set(cells.map((cell) => cell.horizon));
    section("curves", grouped(cells, (cell) => cell.place), curveSpec);
    document.getElementById("curves").hidden = false;
    const across = horizons.size > 1 ? grouped(cells, (cell) => cell.family) : new Map();
    section("success", across, (place, members) => pointsSpec("success", place, members));
    section("scaling", across, (place, members) => pointsSpec("scaling", place, members));
    document.getElementById("band-said").textContent = data.bands.find((one) => one.value === band).said;
    const ids = new Set(cells.map((cell) => cell.id));
    for (const row of document.querySelectorAll("tr[data-cell]")) row.hidden = !ids.has(row.dataset.cell);
    document.getElementById("count").textContent =
      cells.length === 0 ? "Nothing matches the filter." : `${cells.length} of ${data.cells.length} cells are shown.`;
  }

  const form = document.getElementById("filter");
  form.addEventListener("submit", (event) => event.preventDefault());
  for (const filter of data.filters) {
    const group = add(form, "fieldset", { class: "choices" });
    add(group, "legend", {}, filter.name);
    const values = filter.values.map((value) => ({ value, text: value }));
    choices(group, "checkbox", filter.key, values, () => true, (value, on) => {
      chosen.get(filter.key)[on ? "add" : "delete"](value);
      show();
    });
  }
  choices(document.getElementById("band"), "radio", "band", data.bands, (value) => value === band, (value) => {
    band = value;
    show();
  });
  document.getElementById("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });
  show();
})();
