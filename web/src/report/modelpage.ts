// The model: its graph coloured by coverage, its switches as a list, and one of them in detail.

import { type Child, fill, h } from "../shared/dom.js";
import { GraphView } from "../shared/graph.js";
import { VirtualList } from "../shared/list.js";
import { long } from "../shared/long.js";
import { counted, ORDER, STATUS, type Status, status, takenBy } from "./coverage.js";
import type { DocumentView, RunListView, SwitchShown } from "./views.js";
import { choice, facts, link, plural, statusBadge, switchText, to } from "./parts.js";

export function modelPage(document: DocumentView, chosen: string | undefined): Child {
  return document.model === null
    ? h("p", null, document.notes[0] ?? "This report has no model.")
    : new ModelPage(document, document.model.switches).show(chosen);
}

class ModelPage {
  private readonly detail = h("div", {
    class: "detail",
    "aria-live": "polite",
    role: "region",
    "aria-label": "the selection",
    tabindex: 0,
  });
  private readonly list: VirtualList;
  private readonly graph: GraphView | null;
  private readonly states: Status[];
  private shown: number[];
  private text = "";
  private only: Status | "all" = "all";

  constructor(
    private readonly document: DocumentView,
    private readonly switches: SwitchShown[],
  ) {
    this.states = switches.map((it) => status(document, it));
    this.shown = switches.map((_, at) => at);
    const svg = picture();
    this.graph =
      svg && new GraphView(svg, { onSwitch: (at) => this.open(at), onLocation: (name) => this.search(name) });
    this.graph?.mark((at) => STATUS[this.states[at] ?? "unknown"].mark);
    this.list = new VirtualList({
      label: "transitions",
      rowHeight: 34,
      count: () => this.shown.length,
      row: (row) => this.row(this.shown[row] ?? 0),
      onSelect: (row) => this.open(this.shown[row] ?? 0),
    });
  }

  show(label: string | undefined): HTMLElement {
    const at = label === undefined ? -1 : this.switches.findIndex((it) => it.label === label);
    this.describe(at);
    if (at >= 0) requestAnimationFrame(() => this.mark(at));
    return h(
      "div",
      { class: "model-page" },
      h("div", { class: "card graph-card" }, this.legend(), this.graph?.element),
      h("div", { class: "side" }, h("div", { class: "card list-card" }, this.field, this.list.element), this.detail),
    );
  }

  private readonly field = h("input", {
    type: "search",
    placeholder: "find a transition, message or state",
    "aria-label": "find a transition",
    oninput: (event: InputEvent) => this.filter((event.target as HTMLInputElement).value, this.only),
  });

  /** The colours, each a filter. */
  private legend(): HTMLElement {
    const counts = counted(this.document);
    const options = ORDER.filter((word) => (counts.get(word) ?? 0) > 0).map((key) => ({
      key: key as Status | "all",
      text: `${STATUS[key].sign} ${STATUS[key].word} ${counts.get(key) ?? 0}`,
    }));
    const all = { key: "all" as const, text: `all ${this.switches.length}` };
    const chips = choice("which transitions", [all, ...options], "all", (key) => this.filter(this.text, key));
    [...chips.children].slice(1).forEach((chip, at) => chip.classList.add("status", options[at]?.key ?? ""));
    return chips;
  }

  private filter(text: string, only: Status | "all"): void {
    this.text = text;
    this.only = only;
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    this.shown = this.switches.flatMap((it, at) => {
      const told = `${it.label} ${it.message} ${it.from} ${it.to} ${it.reqs.join(" ")}`.toLowerCase();
      const fits = words.every((word) => told.includes(word)) && (only === "all" || this.states[at] === only);
      return fits ? [at] : [];
    });
    this.list.refresh();
  }

  private search(name: string): void {
    this.field.value = name;
    this.filter(name, this.only);
  }

  /** A switch was chosen: the address says so, the page stays. */
  private open(at: number): void {
    const it = this.switches[at];
    if (it === undefined) return;
    history.replaceState(null, "", to("model", it.label));
    this.describe(at);
    this.mark(at);
  }

  private mark(at: number): void {
    this.graph?.choose({ switch: at });
    const row = this.shown.indexOf(at);
    if (row >= 0 && this.list.selection() !== row) this.list.select(row, "quietly");
  }

  private row(at: number): HTMLElement {
    const it = this.switches[at] as SwitchShown;
    const { sign, word } = STATUS[this.states[at] ?? "unknown"];
    return h(
      "div",
      null,
      h("span", { class: `dot status ${this.states[at] ?? ""}`, title: word }, sign, h("span", { class: "sr" }, word)),
      h("b", null, it.label),
      h("code", { class: "soft" }, switchText(it)),
    );
  }

  private describe(at: number): void {
    const it = this.switches[at];
    if (it === undefined) {
      fill(
        this.detail,
        h(
          "p",
          { class: "soft card" },
          "Choose a transition, in the graph or in the list, to see its source, its requirements " +
            "and the runs that took it.",
        ),
      );
      return;
    }
    const state = this.states[at] ?? "unknown";
    const lines = (list: string[]): Child => list.length > 0 && list.map((text) => h("code", { class: "line" }, text));
    fill(
      this.detail,
      h(
        "section",
        { class: "card switch-detail", "aria-label": `transition ${it.label}` },
        h("h2", null, it.label, " ", statusBadge(state)),
        it.why !== null && h("p", { class: "why" }, it.why),
        it.doc !== "" && h("p", null, it.doc),
        facts([
          ["message", h("code", null, it.message)],
          ["from, to", `${it.from} → ${it.to}`],
          ["guard", lines(it.guard) || null],
          ["updates", lines(it.updates) || null],
          ["resets", it.resets.join(", ")],
          ["requirements", it.reqs.length > 0 ? it.reqs.map((req) => [link(req, "requirements"), " "]) : null],
          ["source", it.line !== null ? `${it.file ?? ""}:${it.line}` : null],
        ]),
        it.source !== "" && long(it.source, "source"),
        this.runs(it),
      ),
    );
  }

  private runs(it: SwitchShown): Child {
    const taken = takenBy(this.document, it.label);
    if (this.document.campaign === null) return null;
    if (taken === undefined) return h("p", { class: "soft" }, "No run took it.");
    const list = (word: string, told: RunListView): Child =>
      told.n > 0 && [
        h("dt", null, word),
        h(
          "dd",
          { class: "runs" },
          told.first.map((run) => [link(`${run}`, "run", run), " "]),
          told.n > told.first.length && `and ${told.n - told.first.length} more`,
        ),
      ];
    return [
      h("h3", null, times(taken.certain, taken.possible - taken.certain)),
      h(
        "dl",
        { class: "facts" },
        list("passing runs", taken.passing),
        list("failing runs", taken.failing),
        list("other runs", taken.others),
      ),
    ];
  }
}

function times(certain: number, perhaps: number): string {
  const sure = certain > 0 ? `Taken ${plural(certain, "time")}` : "Not certainly taken";
  return perhaps > 0
    ? `${sure}, possibly ${certain > 0 ? `${plural(perhaps, "time")} more` : plural(perhaps, "time")}`
    : sure;
}

/** A fresh copy of the picture in this page. */
export function picture(): SVGSVGElement | null {
  const template = document.getElementById("picture");
  const svg = template instanceof HTMLTemplateElement ? template.content.querySelector("svg") : null;
  return svg && document.importNode(svg, true);
}
