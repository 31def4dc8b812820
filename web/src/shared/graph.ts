// The picture of a model, to be moved, enlarged, coloured and clicked.
//
// The picture itself is drawn in Rust; its nodes have `data-location`, its edges `data-switch`.
// Colour comes by class: `mark` gives every switch a word that the style sheet knows.

import { h } from "./dom.js";

export interface GraphOptions {
  /** A switch was clicked, by its number in the model. */
  onSwitch?: (number: number) => void;
  /** A location was clicked, by its name. */
  onLocation?: (name: string) => void;
}

interface View {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Below this many pixels per unit the texts on edges are left out. */
const FAR = 0.32;
/** Below this many pixels per unit nothing can be told apart. */
const TINY = 0.12;
/** Above this many edges a picture is moved as it was drawn, and drawn again once it rests. */
const LARGE = 400;
/** Milliseconds without a move after which a picture rests. */
const REST = 160;

export class GraphView {
  readonly element: HTMLElement;
  private readonly whole: View;
  private view: View;
  private readonly switches = new Map<number, SVGGElement[]>();
  private readonly edges: { edge: SVGGElement; numbers: number[] }[] = [];
  private readonly locations = new Map<string, SVGGElement>();
  private readonly marks = new Map<SVGGElement, string>();
  private chosen: Element | null = null;
  private here: Element[] = [];
  private touched = false;
  private readonly large: boolean;
  private drawn: View;
  private resting = 0;

  constructor(
    private readonly svg: SVGSVGElement,
    private readonly options: GraphOptions = {},
  ) {
    const { width, height } = svg.viewBox.baseVal;
    this.whole = { x: 0, y: 0, width: width || 100, height: height || 100 };
    this.view = this.whole;
    this.drawn = this.whole;
    for (const edge of svg.querySelectorAll<SVGGElement>("[data-switch]")) {
      const numbers = numbersOf(edge);
      this.edges.push({ edge, numbers });
      for (const number of numbers) this.switches.set(number, [...(this.switches.get(number) ?? []), edge]);
    }
    for (const node of svg.querySelectorAll<SVGGElement>("[data-location]")) {
      this.locations.set(node.dataset["location"] ?? "", node);
    }
    this.large = this.switches.size > LARGE;
    svg.classList.toggle("large", this.large);
    svg.setAttribute("preserveAspectRatio", "xMidYMid meet");
    svg.setAttribute("width", "100%");
    svg.setAttribute("height", "100%");
    this.element = h("div", { class: "graph", tabindex: 0, role: "group", "aria-label": "graph of the model" });
    this.element.append(svg, this.buttons());
    this.listen();
    new ResizeObserver(() => (this.touched ? this.apply() : this.begin())).observe(this.element);
  }

  /** Shows all of it. */
  fit(): void {
    this.view = this.whole;
    this.touched = false;
    this.apply();
  }

  /** Shows all of it or, if nothing could be told apart then, what lies around the beginning. */
  begin(): void {
    this.fit();
    const start = this.svg.querySelector<SVGGElement>(".node.initial");
    if (this.scale() < TINY && start !== null) this.reveal(start);
  }

  /** Gives every switch a class, in the place of the one it had. */
  mark(classOf: (number: number) => string): void {
    for (const { edge, numbers } of this.edges) {
      const word = best(numbers.map(classOf));
      const old = this.marks.get(edge);
      if (old === word) continue;
      if (old) edge.classList.remove(...old.split(" "));
      if (word) edge.classList.add(...word.split(" "));
      this.marks.set(edge, word);
    }
  }

  /** Marks the locations one may be in. */
  at(names: Iterable<string>): void {
    for (const node of this.here) node.classList.remove("here");
    this.here = [];
    for (const name of names) {
      const node = this.locations.get(name);
      node?.classList.add("here");
      if (node) this.here.push(node);
    }
  }

  /** Selects a switch or a location, or nothing, and brings it into sight. */
  choose(what: { switch: number } | { location: string } | null): void {
    this.chosen?.classList.remove("chosen");
    this.chosen = null;
    if (what === null) return;
    const element = "switch" in what ? this.switches.get(what.switch)?.[0] : this.locations.get(what.location);
    if (element === undefined) return;
    element.classList.add("chosen");
    element.parentNode?.append(element);
    this.chosen = element;
    this.reveal(element);
  }

  /** Moves so that `element` is in sight. */
  reveal(element: SVGGElement): void {
    const box = element.getBBox();
    const ctm = element.getCTM();
    const root = this.svg.getCTM();
    if (ctm === null || root === null || this.element.clientWidth === 0) return;
    const to = root.inverse().multiply(ctm);
    const x = (box.x + box.width / 2) * to.a + to.e;
    const y = (box.y + box.height / 2) * to.d + to.f;
    const { view } = this;
    const inside =
      x > view.x + view.width * 0.08 &&
      x < view.x + view.width * 0.92 &&
      y > view.y + view.height * 0.08 &&
      y < view.y + view.height * 0.92;
    const readable = this.scale() >= FAR;
    if (inside && readable) return;
    const factor = readable ? 1 : this.scale() / 0.8;
    const [width, height] = [view.width * factor, view.height * factor];
    this.touched = true;
    this.view = { x: x - width / 2, y: y - height / 2, width, height };
    this.apply();
  }

  /** Makes it larger (`factor` > 1) around a point of the window, or around the middle. */
  zoom(factor: number, at?: { clientX: number; clientY: number }): void {
    const box = this.element.getBoundingClientRect();
    const fx = at ? (at.clientX - box.left) / Math.max(1, box.width) : 0.5;
    const fy = at ? (at.clientY - box.top) / Math.max(1, box.height) : 0.5;
    const least = 60;
    const most = 4 * Math.max(this.whole.width, this.whole.height);
    const width = Math.min(most, Math.max(least, this.view.width / factor));
    const height = (this.view.height * width) / this.view.width;
    this.view = {
      x: this.view.x + (this.view.width - width) * fx,
      y: this.view.y + (this.view.height - height) * fy,
      width,
      height,
    };
    this.touched = true;
    this.apply();
  }

  private pan(dx: number, dy: number): void {
    this.view = { ...this.view, x: this.view.x + dx * this.view.width, y: this.view.y + dy * this.view.height };
    this.touched = true;
    this.apply();
  }

  /** Pixels per unit of the picture. */
  private scale(): number {
    const { clientWidth, clientHeight } = this.element;
    return Math.min(clientWidth / this.view.width, clientHeight / this.view.height);
  }

  private apply(): void {
    if (!this.large) {
      this.draw();
      return;
    }
    const [from, to] = [this.placed(this.drawn), this.placed(this.view)];
    const factor = to.scale / from.scale;
    const [dx, dy] = [to.x - factor * from.x, to.y - factor * from.y];
    this.svg.style.transform = `translate(${dx}px, ${dy}px) scale(${factor})`;
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.draw(), REST);
  }

  private draw(): void {
    const { x, y, width, height } = this.view;
    this.drawn = this.view;
    this.svg.style.transform = "";
    this.svg.setAttribute("viewBox", `${x} ${y} ${width} ${height}`);
    this.svg.classList.toggle("far", this.scale() < FAR);
  }

  /** Where the origin of the picture lies in the window, and how large a unit is. */
  private placed(view: View): { x: number; y: number; scale: number } {
    const { clientWidth, clientHeight } = this.element;
    const scale = Math.max(1e-6, Math.min(clientWidth / view.width, clientHeight / view.height));
    const x = (clientWidth - view.width * scale) / 2 - view.x * scale;
    const y = (clientHeight - view.height * scale) / 2 - view.y * scale;
    return { x, y, scale };
  }

  private buttons(): HTMLElement {
    const button = (text: string, label: string, act: () => void): HTMLElement =>
      h("button", { class: "quiet", type: "button", "aria-label": label, title: label, onclick: act }, text);
    return h(
      "div",
      { class: "graph-buttons" },
      button("+", "larger", () => this.zoom(1.4)),
      button("−", "smaller", () => this.zoom(1 / 1.4)),
      button("⤢", "show all", () => this.fit()),
    );
  }

  private listen(): void {
    this.element.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        this.zoom(Math.exp(-event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.0018)), event);
      },
      { passive: false },
    );
    this.element.addEventListener("keydown", (event) => this.key(event));
    this.svg.addEventListener("pointerdown", (event) => this.drag(event));
    this.svg.addEventListener("click", (event) => this.clicked(event));
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== this.element) return;
    const acts: Record<string, () => void> = {
      ArrowLeft: () => this.pan(-0.1, 0),
      ArrowRight: () => this.pan(0.1, 0),
      ArrowUp: () => this.pan(0, -0.1),
      ArrowDown: () => this.pan(0, 0.1),
      "+": () => this.zoom(1.4),
      "=": () => this.zoom(1.4),
      "-": () => this.zoom(1 / 1.4),
      "0": () => this.fit(),
    };
    const act = acts[event.key];
    if (act === undefined) return;
    event.preventDefault();
    act();
  }

  private moved = false;

  private drag(down: PointerEvent): void {
    if (down.button !== 0) return;
    const from = { x: down.clientX, y: down.clientY };
    const view = this.view;
    const scale = this.scale();
    this.moved = false;
    const move = (event: PointerEvent): void => {
      const [dx, dy] = [event.clientX - from.x, event.clientY - from.y];
      if (!this.moved && Math.hypot(dx, dy) < 4) return;
      this.moved = true;
      this.touched = true;
      this.view = { ...view, x: view.x - dx / scale, y: view.y - dy / scale };
      this.apply();
    };
    const up = (): void => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", up);
      removeEventListener("pointercancel", up);
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", up);
    addEventListener("pointercancel", up);
  }

  private clicked(event: MouseEvent): void {
    if (this.moved || !(event.target instanceof Element)) return;
    const edge = event.target.closest<SVGGElement>("[data-switch]");
    const node = event.target.closest<SVGGElement>("[data-location]");
    if (edge !== null) this.options.onSwitch?.(numbersOf(edge)[0] ?? 0);
    else if (node !== null) this.options.onLocation?.(node.dataset["location"] ?? "");
  }
}

/** The switches an edge stands for: one, or in a part of a system all in which the part takes the same step. */
export function numbersOf(edge: SVGGElement): number[] {
  return (edge.dataset["switch"] ?? "").split(" ").map(Number);
}

/** Of the marks of several switches the one that tells most. */
function best(words: string[]): string {
  const order = ["last", "suspect", "taken", "enabled", "maybe", "possible", "reached"];
  const rank = (word: string): number => {
    const at = order.findIndex((known) => word.split(" ").includes(known));
    return at < 0 ? order.length : at;
  };
  return words.reduce((one, other) => (rank(other) < rank(one) ? other : one), words[0] ?? "");
}

/** A picture drawn by ioxide, from its text; `null` if it is none. */
export function picture(text: string): SVGSVGElement | null {
  const root = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  return root instanceof SVGSVGElement ? document.importNode(root, true) : null;
}
