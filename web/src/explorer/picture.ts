// The picture of the model beside every screen, and what is known of the switch that is looked at.

import { fill, h } from "../shared/dom.js";
import { GraphView, numbersOf, picture } from "../shared/graph.js";
import type { ModelView } from "./views.js";

export class Picture {
  readonly element = h("section", { class: "picture", "aria-label": "picture of the model" });
  private graph: GraphView | null = null;
  private model: ModelView;
  private readonly detail = h("div", { class: "detail", "aria-live": "polite" });

  constructor(
    model: ModelView,
    private readonly pointed: (number: number) => void,
  ) {
    this.model = model;
    this.draw();
  }

  /** Shows another model. */
  replace(model: ModelView): void {
    const same = model.svg === this.model.svg;
    this.model = model;
    if (!same) this.draw();
  }

  /** Says whether the picture is that of an older text. */
  stale(old: boolean): void {
    this.element.classList.toggle("stale", old);
  }

  private draw(): void {
    const svg = this.model.svg === "" ? null : picture(this.model.svg);
    this.graph = svg === null ? null : new GraphView(svg, { onSwitch: this.pointed });
    const many = this.model.switches.length.toLocaleString("en");
    const none = h("p", { class: "soft no-picture" }, `${many} transitions are too many for a picture.`);
    fill(this.detail);
    fill(this.element, this.graph?.element ?? none, this.detail);
    for (const edge of this.element.querySelectorAll<SVGGElement>("[data-switch]")) {
      const number = numbersOf(edge)[0] ?? 0;
      edge.addEventListener("mouseenter", () => this.tell(number));
      edge.addEventListener("mouseleave", () => this.tell(null));
    }
  }

  /** Gives every switch a word that the style sheet knows. */
  mark(classOf: (number: number) => string): void {
    this.graph?.mark(classOf);
  }

  /** Marks the locations one may be in. */
  at(names: string[]): void {
    this.graph?.at(new Set(names));
    const node = this.element.querySelector<SVGGElement>(".node.here");
    if (node !== null) this.graph?.reveal(node);
  }

  /** Shows a switch that is looked at elsewhere. */
  look(number: number | null): void {
    this.graph?.choose(number === null ? null : { switch: number });
    this.tell(number);
  }

  /** Puts the focus on the picture. */
  focus(): void {
    this.graph?.element.focus();
  }

  private tell(number: number | null): void {
    const found = number === null ? undefined : this.model.switches[number];
    if (found === undefined) return fill(this.detail);
    const from = this.model.locations[found.from]?.name ?? "";
    const to = this.model.locations[found.to]?.name ?? "";
    fill(
      this.detail,
      h("strong", null, found.label),
      h("span", null, `${from} → ${to}`),
      h("code", null, found.message),
      found.reqs.map((req) => h("span", { class: "badge" }, req)),
      h("span", { class: "soft" }, `${found.file}:${found.line}`),
      found.doc !== "" && h("span", { class: "soft" }, found.doc.split("\n", 1)[0] ?? ""),
    );
  }
}
