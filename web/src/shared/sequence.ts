// A run as a sequence chart: time goes down, the tester stands on the left, every gate has a lane; of a
// system made of parts, every part.
//
// The chart is a virtual list, so a run may have any number of steps. Above it stands the strip: all
// steps at once, each a mark in its lane, set by its time where the run has times.

import { h, s } from "./dom.js";
import { VirtualList } from "./list.js";
import { duration } from "./time.js";
import { excerpt } from "./visible.js";
import type { StepKind } from "./words.js";

export interface Step {
  kind: StepKind;
  /** The gate; empty for silence and delays. */
  gate: string;
  /** The lane, if it is not that of the gate. */
  lane?: string;
  /** The whole label. */
  text: string;
  /** Nanoseconds since the run began. */
  time?: number;
  /** Words for the style sheet: `bad` for the forbidden step. */
  class?: string;
  /** A word behind the arrow, such as `got`. */
  note?: string;
  /** What stands in the place of its number. */
  mark?: string;
}

export interface SequenceOptions {
  label: string;
  count: number;
  step: (index: number) => Step;
  /** The number of a step, as it is shown; from 1 if it is left out. */
  mark?: (index: number) => string;
  /** Rows behind the last step, such as what was expected; they are not on the strip. */
  tail?: number;
  /** The lanes, in their order: gates, or parts. */
  lanes: string[];
  /** Whether times are shown. */
  timed: boolean;
  onSelect?: (index: number) => void;
}

const ROW = 30;
/** What is beyond these shares the last lane. */
const MAX_LANES = 9;
const TESTER = 16;

export class Sequence {
  readonly element: HTMLElement;
  readonly list: VirtualList;
  private readonly lanes: string[];
  private readonly laneOf = new Map<string, number>();
  private readonly gap: number;
  private readonly strip: Strip;

  constructor(private readonly options: SequenceOptions) {
    const { lanes } = options;
    const own = lanes.length > MAX_LANES ? lanes.slice(0, MAX_LANES - 1) : lanes;
    this.lanes = own.length < lanes.length ? [...own, `${lanes.length - own.length} more`] : [...own];
    lanes.forEach((lane, at) => this.laneOf.set(lane, Math.min(at, this.lanes.length - 1)));
    this.gap = Math.max(34, Math.min(80, (options.timed ? 290 : 340) / Math.max(1, this.lanes.length)));
    this.list = new VirtualList({
      label: options.label,
      rowHeight: ROW,
      count: () => options.count + (options.tail ?? 0),
      row: (index) => this.row(index),
      onSelect: (index) => {
        this.strip.point(index);
        options.onSelect?.(index);
      },
    });
    this.strip = new Strip(options, this.lanes, (step) => this.lane(step), (index) => this.list.select(index));
    this.element = h(
      "div",
      { class: options.timed ? "sequence timed" : "sequence" },
      options.count > 1 && this.strip.element,
      this.head(),
      this.list.element,
    );
  }

  private lane(step: Step): number {
    return this.laneOf.get(step.lane ?? step.gate) ?? 0;
  }

  private x(lane: number): number {
    return TESTER + 60 + lane * this.gap;
  }

  private width(): number {
    return this.x(Math.max(0, this.lanes.length - 1)) + 34;
  }

  private head(): HTMLElement {
    const name = (text: string, x: number): SVGElement =>
      s("text", { x, y: 15, "text-anchor": "middle" }, excerpt(text, Math.floor(this.gap / 6.8)));
    const svg = s(
      "svg",
      { width: this.width(), height: 22, "aria-hidden": "true" },
      s("text", { x: 0, y: 15 }, "tester"),
      this.lanes.map((lane, at) => s("g", null, s("title", null, lane), name(lane, this.x(at)))),
    );
    return h(
      "div",
      { class: "sequence-head", "aria-hidden": "true" },
      h("span", { class: "n" }, "step"),
      this.options.timed && h("span", { class: "t" }, "time"),
      svg,
    );
  }

  private row(index: number): HTMLElement {
    const step = this.options.step(index);
    const time = this.options.timed && h("span", { class: "t" }, duration(step.time ?? 0));
    return h(
      "div",
      { class: `step ${step.kind} ${step.class ?? ""}` },
      h("span", { class: "n" }, step.mark ?? this.options.mark?.(index) ?? index + 1),
      time,
      this.lines(step),
      h("span", { class: "what" }, excerpt(step.text, 240)),
      step.note !== undefined && h("span", { class: "note" }, step.note),
    );
  }

  /** The lanes of one row, and the arrow. */
  private lines(step: Step): SVGElement {
    const rail = (x: number, word: string): SVGElement =>
      s("line", { class: word, x1: x, x2: x, y1: 0, y2: ROW });
    const rails = [rail(TESTER, "rail tester"), ...this.lanes.map((_, at) => rail(this.x(at), "rail"))];
    return s("svg", { width: this.width(), height: ROW, "aria-hidden": "true" }, rails, this.arrow(step));
  }

  private arrow(step: Step): SVGElement {
    const y = ROW / 2;
    if (step.kind === "quiescence" || step.kind === "delay") {
      const to = this.x(Math.max(0, this.lanes.length - 1));
      return s("line", { class: "arrow still", x1: TESTER, x2: to, y1: y, y2: y });
    }
    if (step.kind === "breakdown") {
      const to = this.x(Math.max(0, this.lanes.length - 1));
      return s("path", {
        class: "arrow broken",
        d: `M${to - 6} ${y - 6} L${to + 6} ${y + 6} M${to + 6} ${y - 6} L${to - 6} ${y + 6}`,
      });
    }
    const lane = this.x(this.lane(step));
    const input = step.kind === "input";
    const [tip, back] = input ? [lane, -7] : [TESTER, 7];
    return s(
      "g",
      { class: "arrow" },
      s("circle", { cx: input ? TESTER : lane, cy: y, r: 3 }),
      s("line", { x1: TESTER, x2: lane, y1: y, y2: y }),
      s("path", { d: `M${tip + back} ${y - 4.5} L${tip} ${y} L${tip + back} ${y + 4.5}` }),
    );
  }
}

const STRIP_LANE = 9;
const STRIP_WIDTH = 1000;

/** All steps at once. */
class Strip {
  readonly element: HTMLElement;
  private readonly needle: SVGElement;
  private readonly last: number;

  constructor(
    private readonly options: SequenceOptions,
    lanes: string[],
    laneOf: (step: Step) => number,
    private readonly go: (index: number) => void,
  ) {
    const { count, timed } = options;
    this.last = timed ? Math.max(1, options.step(count - 1).time ?? 1) : Math.max(1, count - 1);
    const height = (lanes.length + 1) * STRIP_LANE + 4;
    this.needle = s("line", { class: "needle", y1: 0, y2: height, visibility: "hidden" });
    const marks = this.marks(lanes.length, laneOf);
    const svg = s(
      "svg",
      {
        viewBox: `0 0 ${STRIP_WIDTH} ${height}`,
        preserveAspectRatio: "none",
        height,
        "aria-hidden": "true",
        onclick: (event: MouseEvent) => this.clicked(event),
      },
      marks,
      this.needle,
    );
    const axis = this.axis();
    this.element = h("div", { class: "strip", title: "all steps; click to go there" }, svg, axis);
  }

  point(index: number): void {
    if (index >= this.options.count) return;
    const x = this.x(index);
    this.needle.setAttribute("x1", String(x));
    this.needle.setAttribute("x2", String(x));
    this.needle.setAttribute("visibility", "visible");
  }

  private x(index: number): number {
    const at = this.options.timed ? (this.options.step(index).time ?? 0) : index;
    return 4 + (at / this.last) * (STRIP_WIDTH - 8);
  }

  /** One mark per lane and pixel at most, however long the run is. */
  private marks(lanes: number, laneOf: (step: Step) => number): SVGElement[] {
    const paths = new Map<string, string[]>();
    const seen = new Set<number>();
    for (let index = 0; index < this.options.count; index += 1) {
      const step = this.options.step(index);
      const silent = step.gate === "";
      const lane = silent ? lanes : laneOf(step);
      const x = Math.round(this.x(index));
      const bad = step.class?.includes("bad") === true;
      if (!bad && seen.has(lane * 4096 + x)) continue;
      seen.add(lane * 4096 + x);
      const word = bad ? "bad" : step.kind;
      const path = paths.get(word) ?? [];
      path.push(`M${x} ${lane * STRIP_LANE + 3}v${STRIP_LANE - 2}`);
      paths.set(word, path);
    }
    return [...paths].map(([word, path]) => s("path", { class: word, d: path.join("") }));
  }

  private axis(): HTMLElement {
    const { count, timed } = this.options;
    const text = (part: number): string =>
      timed ? duration(this.last * part) : String(Math.round(1 + (count - 1) * part));
    const ticks = [0, 0.25, 0.5, 0.75, 1].map((part) => h("span", null, text(part)));
    return h("div", { class: "axis", "aria-hidden": "true" }, ticks);
  }

  private clicked(event: MouseEvent): void {
    const box = this.element.getBoundingClientRect();
    const part = (event.clientX - box.left) / Math.max(1, box.width);
    this.go(this.nearest(part * this.last));
  }

  /** The step at a place, found by halving: times never go back. */
  private nearest(at: number): number {
    if (!this.options.timed) return Math.round(at);
    let [low, high] = [0, this.options.count - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.options.step(middle).time ?? 0) < at) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
