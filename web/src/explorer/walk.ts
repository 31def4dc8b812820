// A walk by hand: along messages with values, or along switches with a path condition.

import { fill, h } from "../shared/dom.js";
import { badge } from "../shared/verdict.js";
import { excerpt } from "../shared/visible.js";
import type { ModelView, ValuesView, WalkView } from "./views.js";
import { post } from "./api.js";
import { belief, forbidden, placesOf } from "./belief.js";
import { Choices } from "./choices.js";
import type { Picture } from "./picture.js";
import { type Route, go, rename } from "./route.js";
import type { Screen } from "./screen.js";

export class WalkScreen implements Screen {
  readonly element = h("div", { class: "panel" });
  private path: string[] = [];
  private view: WalkView | null = null;
  private choices: Choices | null = null;
  private asked = 0;
  private readonly typed = h("input", {
    type: "text",
    class: "typed",
    "aria-label": "a step, typed",
    autocomplete: "off",
    spellcheck: "false",
  });

  constructor(
    private readonly model: ModelView,
    private readonly picture: Picture,
    private readonly symbolic: boolean,
    private readonly refresh: () => Promise<void>,
  ) {
    const [gate, field] = [model.gates[0], model.gates[0]?.fields[0]];
    const example = gate === undefined ? "quiet" : field === undefined ? gate.name : `${gate.name}(${field.name}: …)`;
    this.typed.placeholder = symbolic
      ? `a transition, such as ${model.switches[0]?.label ?? "r1"}`
      : `${example}, quiet${model.timed ? ", +1.5s" : ""}`;
  }

  async show(route: Route): Promise<void> {
    if (route.screen !== "walk" && route.screen !== "symbolic") return;
    this.path = route.path;
    const turn = (this.asked += 1);
    this.element.classList.add("busy");
    try {
      const view = await post<WalkView>("walk", { path: this.path, symbolic: this.symbolic });
      if (turn !== this.asked) return;
      if (view.revision !== this.model.revision) await this.refresh();
      else this.draw(view);
    } catch (error) {
      if (turn !== this.asked) return;
      this.element.classList.remove("busy");
      fill(
        this.element,
        h(
          "section",
          { class: "card problem", role: "alert" },
          String(error instanceof Error ? error.message : error),
        ),
      );
    }
  }

  keys(): [string, string][] {
    const walk: [string, string][] = [
      ["1–9", "take a choice"],
      ["t", "type a step"],
      ["u", "undo"],
      ["0", "start over"],
    ];
    if (this.model.timed && !this.symbolic) walk.push(["d", "let time pass"]);
    return [...walk, this.symbolic ? ["v", "find values for the path"] : ["v", "values from the solver"]];
  }

  key(key: string): boolean {
    if (/^[1-9]$/.test(key)) this.choices?.choose(Number(key) - 1);
    else if (key === "u" || key === "Backspace") this.undo();
    else if (key === "0") this.walk([]);
    else if (key === "t") this.typed.focus();
    else if (key === "q" && !this.symbolic) this.take("quiet");
    else if (key === "d" && this.model.timed && !this.symbolic) this.choices?.delay();
    else if (key === "v") this.symbolic ? void this.witness() : this.choices?.values();
    else return false;
    return true;
  }

  pointed(number: number): void {
    const at = this.choices?.withSwitch(number) ?? -1;
    if (at >= 0) this.choices?.choose(at);
  }

  leave(): void {
    this.asked += 1;
  }

  /** The steps that could be taken, with the recorded ones they begin with. */
  private good(): string[] {
    const view = this.view;
    if (view === null) return [];
    const base = view.base === null ? [] : [`@${view.base.record}.${view.base.run}.${view.base.steps}`];
    return [...base, ...view.path];
  }

  private take(step: string): void {
    this.walk([...this.good(), step]);
  }

  private walk(path: string[]): void {
    go({ screen: this.symbolic ? "symbolic" : "walk", path });
  }

  private undo(): void {
    const good = this.good();
    if (this.view?.forbidden || this.view?.problem) return this.walk(good);
    const base = this.view?.base;
    if (base && good.length === 1) {
      return this.walk(base.steps > 0 ? [`@${base.record}.${base.run}.${base.steps - 1}`] : []);
    }
    this.walk(good.slice(0, -1));
  }

  private draw(view: WalkView): void {
    this.element.classList.remove("busy");
    const before = this.view !== null && Math.abs(this.view.n_steps - view.n_steps) === 1 ? this.view : null;
    this.view = view;
    if (view.problem === null && view.forbidden === null) {
      rename({ screen: this.symbolic ? "symbolic" : "walk", path: this.good() });
    }
    this.choices = new Choices({
      model: this.model,
      choices: view.choices,
      refused: view.refused,
      path: this.good(),
      silence: view.silence,
      symbolic: this.symbolic,
      take: (step) => this.take(step),
      look: (number) => this.picture.look(number),
    });
    fill(
      this.element,
      this.symbolic && view.n_steps === 0 && this.intro(),
      view.problem !== null && this.problem(view.problem),
      view.forbidden !== null && forbidden(view.forbidden.explanation, "The model does not allow this step"),
      belief(this.model, view, before),
      this.choices.element,
      this.typing(),
      this.symbolic && this.witnessCard(),
      this.history(view),
    );
    this.colour(view);
    this.element.scrollTop = 0;
  }

  private intro(): HTMLElement {
    return h(
      "p",
      { class: "soft intro" },
      "Here transitions are taken without values: each adds its guard to the condition of the path, " +
        "and values stay formulas.",
    );
  }

  private problem({ text, why, position }: { text: string; why: string; position: number }): HTMLElement {
    return h(
      "section",
      { class: "card problem", role: "alert" },
      h("h2", null, `Step ${position + 1} is not possible here`),
      h("p", null, h("code", null, excerpt(text, 200)), " ", why),
      h("button", { type: "button", onclick: () => this.walk(this.good()) }, "go on without it ", h("kbd", null, "u")),
    );
  }

  private typing(): HTMLElement {
    const submit = (event: Event): void => {
      event.preventDefault();
      const step = this.typed.value.trim();
      if (step === "") return;
      this.typed.value = "";
      this.typed.blur();
      this.take(step);
    };
    this.typed.onkeydown = (event) => {
      if (event.key === "Escape") this.typed.blur();
    };
    return h(
      "form",
      { class: "card typing", onsubmit: submit, "aria-label": "type a step" },
      h(
        "label",
        null,
        h("kbd", null, "t"),
        h("span", null, this.symbolic ? "or type a transition" : "or type a message, allowed or not"),
      ),
      this.typed,
      h("button", { type: "submit" }, "take it"),
    );
  }

  private witnessCard(): HTMLElement {
    return h(
      "section",
      { class: "card witness", "aria-label": "values for the path" },
      h(
        "div",
        { class: "row" },
        h("h2", null, "A trace that takes these transitions"),
        h("button", { type: "button", onclick: () => void this.witness() }, "find one ", h("kbd", null, "v")),
      ),
      h("div", { class: "solved", "aria-live": "polite" }),
    );
  }

  /** Asks the solver for a concrete trace along the switches. */
  private async witness(): Promise<void> {
    const place = this.element.querySelector(".witness .solved");
    if (place === null) return;
    const path = this.good();
    try {
      const { steps } = await post<ValuesView>("witness", { path });
      const rows = steps.map((step) => h("li", null, h("code", null, excerpt(step, 200))));
      const walk = h(
        "button",
        { type: "button", class: "primary", onclick: () => go({ screen: "walk", path: steps }) },
        "walk along it",
      );
      fill(
        place,
        steps.length > 0
          ? [h("ol", null, rows), walk]
          : h("p", { class: "soft" }, "No message is visible on this path."),
      );
    } catch (error) {
      fill(place, h("p", { class: "soft" }, String(error instanceof Error ? error.message : error)));
    }
  }

  /** The steps so far; each leads back to it. */
  private history(view: WalkView): HTMLElement {
    const first = view.n_steps - view.steps.length;
    const base = view.base?.steps ?? 0;
    const row = (at: number): HTMLElement => {
      const step = view.steps[at];
      const position = first + at + 1;
      const back = (): void => {
        if (view.base !== null && position <= base) this.walk([`@${view.base.record}.${view.base.run}.${position}`]);
        else this.walk(this.good().slice(0, position - base + (view.base === null ? 0 : 1)));
      };
      const names = (step?.switches ?? []).map((number) => this.model.switches[number]?.label ?? "").join(", ");
      return h(
        "li",
        { class: `past ${step?.kind.split(" ")[0] ?? ""}` },
        h(
          "button",
          { type: "button", class: "link", onclick: back, title: "back to here" },
          h("span", { class: "n" }, position),
          h("code", null, excerpt(step?.text ?? "", 240)),
        ),
        h("span", { class: "soft" }, position <= base ? `${names} recorded` : names),
      );
    };
    const rows = view.steps.map((_, at) => row(at)).reverse();
    const bad =
      view.forbidden !== null &&
      h(
        "li",
        { class: "past bad" },
        h("span", { class: "n" }, view.n_steps + 1),
        h("code", null, excerpt(view.forbidden.explanation.observed, 240)),
        badge("fail", "forbidden"),
      );
    return h(
      "section",
      { class: "card history", "aria-label": "steps so far" },
      h(
        "div",
        { class: "row" },
        h(
          "h2",
          null,
          view.n_steps === 0
            ? "No step was taken yet"
            : view.n_steps === 1
              ? "1 step so far"
              : `${view.n_steps.toLocaleString("en")} steps so far`,
        ),
        h(
          "button",
          { type: "button", class: "quiet", onclick: () => this.undo(), disabled: this.path.length === 0 },
          "undo ",
          h("kbd", null, "u"),
        ),
        h(
          "button",
          { type: "button", class: "quiet", onclick: () => this.walk([]), disabled: this.path.length === 0 },
          "start over ",
          h("kbd", null, "0"),
        ),
      ),
      h("ol", { class: "past-list" }, bad, rows),
      first > 0 && h("p", { class: "soft" }, `and ${first.toLocaleString("en")} before them`),
    );
  }

  private colour(view: WalkView): void {
    const possible = new Set(view.choices.filter(({ possible }) => possible !== "no").map((choice) => choice.switch));
    const last = new Set(view.steps[view.steps.length - 1]?.switches ?? []);
    this.picture.mark((number) => (possible.has(number) ? "enabled" : last.has(number) ? "last" : "dim"));
    this.picture.at(view.belief.states.flatMap((state) => placesOf(this.model, state)));
  }
}
