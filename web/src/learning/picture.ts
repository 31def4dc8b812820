// The hypothesis as a picture: the latest, unless it is held to be looked at.

import { fill, h } from "../shared/dom.js";
import { GraphView, picture } from "../shared/graph.js";
import type { HypothesisView } from "./views.js";

export class HypothesisPicture {
  readonly element = h("section", { class: "picture", "aria-label": "picture of the hypothesis" });
  /** What is new in the picture. */
  readonly news = h("section", { class: "card", "aria-label": "what is new" });
  private readonly place = h("div", { class: "drawn" });
  private readonly hold = h("input", { type: "checkbox", id: "hold" });
  private shown = 0;
  private wanted = 0;
  private busy = false;

  constructor() {
    this.hold.onchange = () => void this.fetch();
    fill(this.element, this.place, h("label", { class: "hold" }, this.hold, "hold this picture"));
    this.tell("There is no hypothesis yet: ioxide is asking its first questions.");
  }

  /** There is a picture with this number. */
  follow(number: number): void {
    this.wanted = number;
    void this.fetch();
  }

  /** Asks for the latest picture; while one is on its way, nothing else is asked for. */
  private async fetch(): Promise<void> {
    if (this.busy || this.hold.checked || this.wanted <= this.shown) return;
    this.busy = true;
    try {
      const response = await fetch("api/learning/picture");
      if (response.ok) this.show((await response.json()) as HypothesisView);
      else this.shown = this.wanted;
    } catch {
      // The server has gone: what is shown stays.
      this.shown = this.wanted;
    } finally {
      this.busy = false;
    }
    void this.fetch();
  }

  private show(view: HypothesisView): void {
    this.shown = Math.max(view.picture, this.shown + 1);
    const svg = view.svg === "" ? null : picture(view.svg);
    if (svg === null) this.tell(view.missing === "" ? "This cannot be drawn." : `${capital(view.missing)}.`);
    else fill(this.place, new GraphView(svg).element);
    this.element.dataset["hypothesis"] = String(view.hypothesis);
    fill(this.news, this.changes(view));
  }

  private changes(view: HypothesisView): (HTMLElement | false)[] {
    const title = h("h2", null, `Hypothesis ${view.hypothesis.toLocaleString("en")}`);
    const size = h(
      "p",
      { class: "soft" },
      `${view.states.toLocaleString("en")} states, ${view.moves.toLocaleString("en")} moves`,
    );
    if (view.before === null) return [title, size];
    const { new_states: states, n_new_moves: moves, n_gone: gone } = view;
    const found = `${states.length} new states, ${moves} new moves (marked +), ${gone} gone`;
    const since = `Since hypothesis ${view.before}: ${found}.`;
    const rows = view.new_moves.map(({ from, to, text }) => h("li", null, h("code", null, `${from} → ${to}: ${text}`)));
    const more = moves > rows.length && h("p", { class: "soft" }, `and ${moves - rows.length} more`);
    return [
      title,
      size,
      h("p", { id: "since" }, since),
      rows.length > 0 && h("ul", { class: "new-moves", tabindex: 0, "aria-label": "new moves" }, rows),
      more,
    ];
  }

  private tell(text: string): void {
    fill(this.place, h("p", { class: "soft no-picture" }, text));
  }
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
