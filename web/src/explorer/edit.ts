// The text of the model beside its picture: analysed while it is typed, saved with Ctrl+S.

import { fill, h } from "../shared/dom.js";
import { excerpt } from "../shared/visible.js";
import type { EditView, FindingView, ModelView, RepairsView, RepairView, SourceView } from "./views.js";
import { get, post, Refusal } from "./api.js";
import type { Picture } from "./picture.js";
import type { Screen } from "./screen.js";
import { TextField } from "./textfield.js";

/** Milliseconds without a key after which the text is analysed. */
const REST = 250;

export interface EditOptions {
  picture: Picture;
  /** The model that is shown. */
  model: () => ModelView;
  /** The text has become another model. */
  use: (model: ModelView) => void;
  /** The model is to be asked for again: another page may have changed it. */
  refresh: () => Promise<void>;
}

export class EditScreen implements Screen {
  readonly element = h("div", { class: "panel edit" });
  private readonly field: TextField;
  private readonly status = h("p", { class: "soft edit-status", role: "status", id: "edit-status" });
  private readonly problem = h("div", { class: "edit-problem" });
  private readonly list = h("ul", { class: "findings", "aria-label": "findings" });
  private readonly saving = h(
    "button",
    { type: "button", class: "primary", "aria-keyshortcuts": "Control+S", onclick: () => void this.save() },
    "save ",
    h("kbd", null, "Ctrl S"),
  );
  private readonly repairs = h("div", { class: "repairs" });
  private readonly repairing = h(
    "button",
    { type: "button", class: "repairing", onclick: () => void this.findRepairs() },
    "changes that explain the runs",
  );
  private source: SourceView | null = null;
  private findings: FindingView[] = [];
  private revision = 0;
  private saved = true;
  /** The text that the server has. */
  private known = "";
  private timer = 0;
  /** The analysis under way. */
  private under: Promise<void> | null = null;
  private readonly keyed = (event: KeyboardEvent): void => this.shortcut(event);

  constructor(private readonly options: EditOptions) {
    this.field = new TextField({
      label: `text of ${options.model().file}`,
      describedBy: this.status.id,
      changed: () => this.changed(),
      moved: () => this.lookAtCursor(),
    });
    addEventListener("beforeunload", (event) => {
      if (!this.saved || this.field.text !== this.known) event.preventDefault();
    });
  }

  async show(): Promise<void> {
    this.options.picture.mark(() => "");
    this.options.picture.at([]);
    document.addEventListener("keydown", this.keyed);
    if (this.field.text !== this.known) return;
    const source = await get<SourceView>("source");
    if (this.source === null || source.revision !== this.revision) this.adopt(source);
    if (source.changed_on_disk) this.changedOnDisk("The file was changed by another program.");
  }

  keys(): [string, string][] {
    return [
      ["Ctrl S", "save"],
      ["Esc", "leave the text"],
      ["i", "back to the text"],
    ];
  }

  key(key: string): boolean {
    if (key !== "i" || this.source?.refusal !== "") return false;
    this.field.focus();
    return true;
  }

  /** A transition of the picture was clicked: shows where it is written. */
  pointed(number: number): void {
    const found = this.options.model().switches[number];
    if (found !== undefined && found.file === this.options.model().file) this.field.goToLine(found.line);
  }

  leave(): void {
    document.removeEventListener("keydown", this.keyed);
    this.options.picture.look(null);
    if (this.source !== null && this.field.text !== this.known) void this.analyse();
  }

  private shortcut(event: KeyboardEvent): void {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.key.toLowerCase() !== "s") return;
    event.preventDefault();
    void this.save();
  }

  /** Shows the text of the server. */
  private adopt(source: SourceView): void {
    this.source = source;
    this.known = source.text;
    this.field.text = source.text;
    this.take(source);
    fill(this.problem);
    if (source.refusal === "") this.draw();
    else {
      const text = h("p", null, source.refusal);
      fill(this.element, h("section", { class: "card" }, h("h2", null, "The text cannot be edited here"), text));
    }
  }

  private draw(): void {
    const step = h("a", { class: "button", href: "#/walk" }, "step from the start ", h("kbd", null, "w"));
    fill(
      this.element,
      h(
        "div",
        { class: "row edit-head" },
        h("h2", null, h("code", null, excerpt(this.options.model().file, 120))),
        step,
        this.source?.has_runs === true && this.repairing,
        this.saving,
      ),
      this.problem,
      this.repairs,
      this.field.element,
      this.status,
      this.list,
    );
    this.field.refresh();
  }

  private changed(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.analyse(), REST);
    this.tell();
  }

  /** Has the text analysed, until the server has all that was typed; one request at a time. */
  private analyse(): Promise<void> {
    clearTimeout(this.timer);
    this.under ??= this.exchange().finally(() => (this.under = null));
    return this.under;
  }

  private async exchange(): Promise<void> {
    while (this.field.text !== this.known) {
      const text = this.field.text;
      try {
        const view = await post<EditView>("source/change", { text, after: this.revision });
        this.known = text;
        this.take(view);
        fill(this.problem);
        if (view.model === null) continue;
        this.options.use(view.model);
        this.lookAtCursor();
      } catch (error) {
        this.refused(error, (why) => this.changedElsewhere(why));
        return;
      }
    }
  }

  private async save(): Promise<void> {
    if (this.source?.refusal !== "") return;
    await this.analyse();
    if (this.field.text !== this.known) return;
    try {
      this.take(await post<EditView>("source/save", { revision: this.revision }));
      fill(this.problem);
    } catch (error) {
      this.refused(error, (why) => this.changedOnDisk(why));
    }
  }

  /** Asks for changes of the text under which the model allows every recorded run. */
  private async findRepairs(): Promise<void> {
    await this.analyse();
    this.repairing.disabled = true;
    fill(this.repairs, h("p", { class: "soft", role: "status" }, "looking for changes of the model ..."));
    try {
      const found = await post<RepairsView>("source/repairs", { revision: this.revision });
      fill(this.repairs, this.foundRepairs(found));
    } catch (error) {
      fill(this.repairs);
      this.refused(error, (why) => this.changedElsewhere(why));
    } finally {
      this.repairing.disabled = false;
    }
  }

  private foundRepairs({ refusal, repairs }: RepairsView): HTMLElement {
    const close = h("button", { type: "button", class: "quiet", onclick: () => fill(this.repairs) }, "close");
    const one = (it: RepairView): HTMLElement =>
      h(
        "li",
        { class: "repair" },
        h("p", null, it.reason),
        h("pre", null, it.diff),
        it.effects.map((effect) => h("p", { class: "soft" }, excerpt(effect, 600))),
        h("button", { type: "button", onclick: () => this.tryRepair(it) }, "try it"),
      );
    return h(
      "section",
      { class: "card", role: "status" },
      h("h3", null, refusal === "" ? "If the system is right, each of these changes explains every run" : "No change"),
      refusal === "" ? h("ol", null, repairs.map(one)) : h("p", null, sentence(refusal)),
      close,
    );
  }

  /** Takes the changed text; the picture follows, and nothing is saved. */
  private tryRepair({ text }: RepairView): void {
    this.field.text = text;
    this.changed();
  }

  private take(view: { revision: number; saved: boolean; findings: FindingView[] }): void {
    this.revision = view.revision;
    this.saved = view.saved;
    this.findings = view.findings;
    this.field.mark(view.findings.filter(({ file }) => file === null));
    fill(this.list, view.findings.map((finding) => this.finding(finding)));
    this.tell();
  }

  /** One line about the text: what was found, and whether the file has it. */
  private tell(): void {
    const typing = this.field.text !== this.known;
    const count = (severity: string, one: string, many: string): string | false => {
      const n = this.findings.filter((finding) => finding.severity === severity).length;
      return n > 0 && `${n} ${n === 1 ? one : many}`;
    };
    const counts = [
      count("error", "error", "errors"),
      count("warning", "warning", "warnings"),
      count("hint", "hint", "hints"),
    ].filter(Boolean);
    const found = counts.length === 0 ? "No findings" : counts.join(", ");
    const wrong = this.findings.some(({ severity }) => severity === "error");
    const picture = wrong ? "; the picture shows the last text without errors" : "";
    const text = `${found}${picture}; ${this.saved && !typing ? "saved" : "not saved"}.`;
    if (!typing && this.status.textContent !== text) this.status.textContent = text;
    this.field.invalid(wrong);
    this.saving.disabled = this.saved && !typing;
    this.options.picture.stale(wrong);
  }

  private finding(it: FindingView): HTMLElement {
    const place = it.file === null ? `${it.line}:${it.column}` : `${it.file}:${it.line}:${it.column}`;
    const head = [
      h("span", { class: `badge ${it.severity}` }, it.severity),
      h("span", { class: "soft" }, `${place} `, it.code),
      h("span", { class: "message" }, it.message),
    ];
    const fix = it.fix;
    return h(
      "li",
      { class: "finding" },
      it.file === null
        ? h("button", { type: "button", class: "link", onclick: () => this.field.select(it.from, it.to) }, head)
        : h("p", null, head),
      it.notes.map((note) => h("p", { class: "soft" }, note)),
      it.helps.map((help) => h("p", { class: "soft" }, `help: ${help}`)),
      fix !== null &&
        h(
          "button",
          { type: "button", class: "quiet", onclick: () => this.field.insert(fix.from, fix.to, fix.text) },
          fix.text === "" ? "remove it" : ["write ", h("code", null, excerpt(fix.text, 80))],
        ),
    );
  }

  /** Marks the transition in whose text the cursor is. */
  private lookAtCursor(): void {
    const { switches, file } = this.options.model();
    const { line } = this.field;
    // Several may share a line; which one it is, is looked at for these only.
    const at = switches.findIndex(
      (it) =>
        it.file === file &&
        it.line <= line &&
        line < it.line + lines(it.source) &&
        this.field.isWithin(it.source, it.line),
    );
    this.options.picture.look(at >= 0 ? at : null);
  }

  /** Shows why the server refused; a conflict can be solved. */
  private refused(error: unknown, conflict: (why: string) => void): void {
    const why = error instanceof Error ? error.message : String(error);
    if (error instanceof Refusal && error.status === 409) conflict(why);
    else this.warn(`${why}.`, []);
  }

  private changedOnDisk(why: string): void {
    this.warn(sentence(why), [
      h("button", { type: "button", onclick: () => void this.loadFile() }, "load the file, without my changes"),
    ]);
  }

  private changedElsewhere(why: string): void {
    const theirs = h("button", { type: "button", onclick: () => void this.takeTheirs() }, "show that text");
    const mine = h("button", { type: "button", onclick: () => void this.keepMine() }, "keep mine");
    this.warn(sentence(why), [theirs, mine]);
  }

  private warn(why: string, buttons: HTMLElement[]): void {
    fill(
      this.problem,
      h("section", { class: "card problem", role: "alert" }, h("p", null, why), h("div", { class: "row" }, buttons)),
    );
  }

  private async loadFile(): Promise<void> {
    try {
      await post<EditView>("source/load", {});
      await this.takeTheirs();
    } catch (error) {
      this.refused(error, (why) => this.warn(sentence(why), []));
    }
  }

  private async takeTheirs(): Promise<void> {
    this.adopt(await get<SourceView>("source"));
    await this.options.refresh();
    this.field.focus();
  }

  private async keepMine(): Promise<void> {
    const { text, revision } = await get<SourceView>("source");
    this.known = text;
    this.revision = revision;
    fill(this.problem);
    await this.analyse();
    this.field.focus();
  }
}

function lines(text: string): number {
  return text.split("\n").length;
}

function sentence(text: string): string {
  const whole = text.charAt(0).toUpperCase() + text.slice(1);
  return whole.endsWith(".") ? whole : `${whole}.`;
}
