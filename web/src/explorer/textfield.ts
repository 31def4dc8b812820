// A text field for a model: line numbers beside it, findings underlined in it.
//
// The field is a plain `textarea`, so that every browser, keyboard and screen reader knows what to do. A sheet below it
// has the same text, invisible, with the underlines.

import { fill, h } from "../shared/dom.js";
import type { FindingView } from "./views.js";

export interface TextFieldOptions {
  label: string;
  /** The id of the element that says what was found. */
  describedBy: string;
  /** The text was changed by the user. */
  changed: () => void;
  /** The cursor has moved. */
  moved: () => void;
}

/** Spaces of one level. */
const INDENT = "    ";

export class TextField {
  readonly element: HTMLElement;
  private readonly area: HTMLTextAreaElement;
  private readonly sheet = h("pre", { class: "underlines", "aria-hidden": "true" });
  private readonly gutter = h("pre", { class: "gutter", "aria-hidden": "true" });
  private findings: FindingView[] = [];
  private followed = -1;

  constructor(private readonly options: TextFieldOptions) {
    this.area = h("textarea", {
      class: "model-text",
      "aria-label": options.label,
      "aria-describedby": options.describedBy,
      spellcheck: "false",
      autocomplete: "off",
      autocapitalize: "off",
      wrap: "off",
      oninput: () => this.typed(),
      onscroll: () => this.align(),
      onkeydown: (event: KeyboardEvent) => this.key(event),
      onkeyup: () => this.follow(),
      onclick: () => this.follow(),
    });
    const sheet = h("div", { class: "text-sheet" }, this.sheet, this.area);
    this.element = h("div", { class: "text-field" }, this.gutter, sheet);
  }

  get text(): string {
    return this.area.value;
  }

  set text(text: string) {
    this.area.value = text;
    this.findings = [];
    this.refresh();
  }

  /** The line of the cursor, from 1. */
  get line(): number {
    return this.lineAt(this.area.selectionStart);
  }

  /** Whether the cursor is within `part`, which begins in `line`, from 1. */
  isWithin(part: string, line: number): boolean {
    const cursor = this.area.selectionStart;
    const start = this.text.indexOf(part, this.startOf(line));
    return start >= 0 && start <= cursor && cursor <= start + part.length;
  }

  /** Underlines the places of findings. */
  mark(findings: FindingView[]): void {
    this.findings = findings;
    this.refresh();
  }

  /** Says whether the text has errors. */
  invalid(wrong: boolean): void {
    this.area.setAttribute("aria-invalid", String(wrong));
  }

  focus(): void {
    this.area.focus();
  }

  /** Selects a place and brings it into sight. */
  select(from: number, to: number): void {
    this.area.focus();
    this.area.setSelectionRange(from, Math.max(from, to));
    const height = parseFloat(getComputedStyle(this.area).lineHeight) || 18;
    const top = (this.lineAt(from) - 1) * height;
    const { scrollTop, clientHeight } = this.area;
    if (top < scrollTop || top + 2 * height > scrollTop + clientHeight) {
      this.area.scrollTop = Math.max(0, top - clientHeight / 3);
    }
    this.follow();
  }

  goToLine(line: number): void {
    const start = this.startOf(line);
    this.select(start, start);
  }

  /** The position at which a line begins. */
  private startOf(line: number): number {
    return this.text.split("\n").slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
  }

  /** Writes in the place of what is there; the field can undo it. */
  insert(from: number, to: number, text: string): void {
    this.area.focus();
    this.area.setSelectionRange(from, to);
    // The only way by which a script writes into the history of a field; every browser has it.
    const done = document.execCommand(text === "" ? "delete" : "insertText", false, text);
    if (!done) {
      this.area.setRangeText(text, from, to, "end");
      this.typed();
    }
  }

  /** Draws line numbers and underlines again. */
  refresh(): void {
    const { text } = this;
    const worst = new Map<number, string>();
    // Errors come first, so the first finding of a line is its worst.
    for (const { line, severity } of this.findings) if (!worst.has(line)) worst.set(line, severity);
    const n = text.split("\n").length;
    const numbers: (string | HTMLElement)[] = [];
    for (let line = 1; line <= n; line += 1) {
      const severity = worst.get(line);
      numbers.push(severity === undefined ? `${line}\n` : h("span", { class: severity }, `${line}\n`));
    }
    fill(this.gutter, numbers);
    fill(this.sheet, this.underlined(text));
    this.align();
  }

  private underlined(text: string): (string | HTMLElement)[] {
    const pieces: (string | HTMLElement)[] = [];
    let end = 0;
    for (const { from, to, severity } of [...this.findings].sort((a, b) => a.from - b.from)) {
      if (from < end) continue;
      // A finding about nothing, such as a missing word, gets a letter to stand under.
      const last = Math.max(to, from + 1);
      pieces.push(text.slice(end, from), h("mark", { class: severity }, text.slice(from, last)));
      end = last;
    }
    // A last empty line has no height of its own.
    return [...pieces, `${text.slice(end)}\n `];
  }

  private typed(): void {
    // The underlines are those of another text now.
    this.findings = [];
    this.refresh();
    this.options.changed();
    this.follow();
  }

  private align(): void {
    this.sheet.scrollTop = this.area.scrollTop;
    this.sheet.scrollLeft = this.area.scrollLeft;
    this.gutter.scrollTop = this.area.scrollTop;
  }

  private lineAt(position: number): number {
    return this.text.slice(0, position).split("\n").length;
  }

  private follow(): void {
    const cursor = this.area.selectionStart;
    if (cursor === this.followed) return;
    this.followed = cursor;
    this.options.moved();
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.key === "Escape") {
      event.preventDefault();
      this.area.blur();
    } else if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      const { selectionStart: from, selectionEnd: to } = this.area;
      const line = this.text.slice(this.text.lastIndexOf("\n", from - 1) + 1, from);
      const indent = /^[ \t]*/.exec(line)?.[0] ?? "";
      this.insert(from, to, `\n${indent}${line.trimEnd().endsWith("{") ? INDENT : ""}`);
    }
  }
}
