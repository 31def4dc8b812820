// What can come next: a list of buttons with numbers, and a form where values are wanted.

import { fill, h } from "../shared/dom.js";
import type { ChoiceView, FieldView, ModelView, ValuesView } from "./views.js";
import { post } from "./api.js";

export interface ChoicesOptions {
  model: ModelView;
  choices: ChoiceView[];
  /** What cannot come, and why. */
  refused: { switch: number; why: string }[];
  /** The path so far, for which values are asked. */
  path: string[];
  silence: boolean;
  /** Whether switches are chosen rather than messages. */
  symbolic: boolean;
  /** A step was chosen. */
  take: (step: string) => void;
  /** A choice is being looked at. */
  look: (number: number | null) => void;
}

export class Choices {
  readonly element: HTMLElement;
  private readonly form = h("div", { class: "form-place" });
  private readonly buttons: HTMLButtonElement[];
  private open: number | null = null;

  constructor(private readonly options: ChoicesOptions) {
    this.buttons = options.choices.map((choice, at) => this.button(choice, at));
    const group = (name: string, wanted: (kind: string) => boolean): HTMLElement | false => {
      const rows = this.buttons.filter((_, at) => wanted(options.choices[at]?.kind ?? ""));
      if (rows.length === 0) return false;
      return h("div", { class: "group", role: "group", "aria-label": name }, h("h3", null, name), rows);
    };
    const nothing = options.choices.length === 0 && !options.silence;
    this.element = h(
      "section",
      { class: "card choices", "aria-label": "possible moves next" },
      h("h2", null, "What can come next"),
      nothing && h("p", { class: "soft" }, "Nothing: the model has no further step here."),
      group("you send", (kind) => kind === "input"),
      group("another client sends", (kind) => kind === "observed input"),
      group("the system may send", (kind) => kind === "output"),
      group("internal, not visible", (kind) => kind === "internal"),
      options.silence && !options.symbolic && this.quiet(),
      options.model.timed && !options.symbolic && this.wait(),
      this.form,
      this.refused(),
    );
  }

  /** Takes choice number `at`, or asks for its values. */
  choose(at: number): void {
    const choice = this.options.choices[at];
    if (choice === undefined || choice.possible === "no") return;
    if (choice.step !== null) this.options.take(choice.step);
    else this.ask(choice, at);
  }

  /** The choice that takes a switch. */
  withSwitch(number: number): number {
    return this.options.choices.findIndex((choice) => choice.switch === number);
  }

  /** Values for the choice that is open, or for the first that takes some. */
  values(): void {
    const at = this.open ?? this.options.choices.findIndex(({ step, fields }) => step === null && fields.length > 0);
    const choice = this.options.choices[at];
    if (choice === undefined || choice.step !== null) return;
    if (this.open !== at) this.ask(choice, at);
    this.form.querySelector<HTMLButtonElement>(".solve")?.click();
  }

  private button(choice: ChoiceView, at: number): HTMLButtonElement {
    const model = this.options.model;
    const taken = model.switches[choice.switch];
    const target = taken === undefined ? "" : (model.locations[taken.to]?.name ?? "");
    const text = this.options.symbolic ? (taken?.message ?? choice.message) : choice.message;
    const notes = [
      choice.possible === "no" && h("span", { class: "note" }, this.against(choice.switch) ?? "cannot be taken here"),
      choice.possible === "unknown" && h("span", { class: "note" }, "possible? the solver did not answer"),
    ];
    return h(
      "button",
      {
        type: "button",
        class: `choice ${choice.kind.split(" ")[0]}`,
        disabled: choice.possible === "no",
        "data-choice": at,
        onclick: () => this.choose(at),
        onmouseenter: () => this.options.look(choice.switch),
        onfocus: () => this.options.look(choice.switch),
        onmouseleave: () => this.options.look(null),
        onblur: () => this.options.look(null),
      },
      at < 9 ? h("kbd", null, at + 1) : h("span", { class: "no-key" }),
      h("span", { class: "what" }, text, choice.when !== "" && h("small", null, ` when ${choice.when}`)),
      h("span", { class: "leads soft" }, `${taken?.label ?? ""} → ${target}`),
      notes,
    );
  }

  private quiet(): HTMLElement {
    return h(
      "div",
      { class: "group", role: "group", "aria-label": "silence" },
      h("h3", null, "or nothing comes"),
      h(
        "button",
        { type: "button", class: "choice quiet-choice", onclick: () => this.options.take("quiet") },
        h("kbd", null, "q"),
        h("span", { class: "what" }, "silence"),
        h("span", { class: "leads soft" }, "δ"),
      ),
    );
  }

  /** Lets time pass. */
  private wait(): HTMLElement {
    const time = h("input", {
      type: "text",
      "aria-label": "how long to wait",
      value: "1s",
      size: 6,
      autocomplete: "off",
    });
    const submit = (event: Event): void => {
      event.preventDefault();
      this.options.take(`+${time.value.trim()}`);
    };
    return h(
      "form",
      { class: "group waiting", "aria-label": "time passes", onsubmit: submit },
      h("h3", null, "or time passes"),
      h("div", { class: "row" }, h("kbd", null, "d"), time, h("button", { type: "submit" }, "wait")),
    );
  }

  /** Puts the focus where a time is typed. */
  delay(): void {
    this.element.querySelector<HTMLInputElement>(".waiting input")?.select();
  }

  private against(number: number): string | undefined {
    return this.options.refused.find((refused) => refused.switch === number)?.why;
  }

  /** What cannot come though a switch for it starts here; on demand, since it is not what one does next. */
  private refused(): HTMLElement | false {
    const { refused, symbolic, model } = this.options;
    if (refused.length === 0 || symbolic) return false;
    const row = ({ switch: number, why }: { switch: number; why: string }): HTMLElement =>
      h(
        "tr",
        null,
        h("td", null, h("code", null, model.switches[number]?.label ?? "")),
        h("td", null, h("code", null, model.switches[number]?.message ?? "")),
        h("td", null, why),
      );
    return h(
      "details",
      { class: "refused" },
      h("summary", null, `what is not possible, and why (${refused.length})`),
      h("table", null, h("tbody", null, refused.map(row))),
    );
  }

  /** Asks for the values of a message. */
  private ask(choice: ChoiceView, at: number): void {
    this.open = at;
    const gate = this.options.model.gates[choice.gate];
    const name = gate?.name ?? "";
    const inputs = choice.fields.map((field) => ({ field, input: control(field) }));
    const solved = h("div", { class: "solved", "aria-live": "polite" });
    const submit = (event: Event): void => {
      event.preventDefault();
      const given = inputs.filter(({ input }) => input.value !== "");
      const fields = given.map(({ field, input }) => `${field.name}: ${written(field, input.value)}`);
      this.options.take(fields.length > 0 ? `${name}(${fields.join(", ")})` : name);
    };
    const form = h(
      "form",
      { class: "values-form", "aria-label": `values of ${name}`, onsubmit: submit },
      h("h3", null, `${name}: which values?`),
      h("p", { class: "soft" }, "Fields left empty get values that fit."),
      h(
        "div",
        { class: "fields" },
        inputs.map(({ field, input }) =>
          h("label", null, h("span", null, field.name, h("small", null, ` ${field.sort}`)), input),
        ),
      ),
      h(
        "div",
        { class: "row" },
        h("button", { class: "primary", type: "submit" }, "take it"),
        h(
          "button",
          { class: "solve", type: "button", onclick: () => void this.solve(at, solved) },
          "let the solver choose",
        ),
        h("button", { class: "quiet", type: "button", onclick: () => this.close() }, "cancel"),
      ),
      solved,
    );
    form.addEventListener("keydown", (event) => event.key === "Escape" && this.close());
    fill(this.form, form);
    inputs[0]?.input.focus();
    form.scrollIntoView({ block: "nearest" });
  }

  private close(): void {
    const at = this.open;
    this.open = null;
    fill(this.form);
    if (at !== null) this.buttons[at]?.focus();
  }

  /** Different values that fit, each a button. */
  private async solve(at: number, place: HTMLElement): Promise<void> {
    fill(place, h("p", { class: "soft" }, "asking …"));
    try {
      const { steps } = await post<ValuesView>("values", { path: this.options.path, choice: at, seed: 1 });
      const button = (step: string): HTMLElement =>
        h(
          "button",
          { type: "button", class: "value-choice", onclick: () => this.options.take(step) },
          step.length > 160 ? `${step.slice(0, 160)}…` : step,
        );
      fill(place, steps.length > 0 ? steps.map(button) : h("p", { class: "soft" }, "the solver finds none"));
      place.querySelector("button")?.focus();
    } catch (error) {
      fill(place, h("p", { class: "soft" }, String(error instanceof Error ? error.message : error)));
    }
  }
}

function control(field: FieldView): HTMLInputElement | HTMLSelectElement {
  if (field.form === "bool" || field.form === "enum") {
    const options = field.form === "bool" ? ["true", "false"] : field.options;
    const empty = h("option", { value: "" }, "any that fits");
    return h("select", { "aria-label": field.name }, empty, options.map((name) => h("option", { value: name }, name)));
  }
  const hints: Record<string, string> = { data: "as in the model", string: "text" };
  const mode = field.form === "int" ? "numeric" : "text";
  return h("input", {
    type: "text",
    inputmode: mode,
    "aria-label": field.name,
    placeholder: hints[field.form] ?? "",
    autocomplete: "off",
    spellcheck: "false",
  });
}

/** A value as steps write it. */
function written(field: FieldView, value: string): string {
  return field.form === "string" ? JSON.stringify(value) : value.trim();
}
