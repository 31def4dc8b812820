// A list of any length of which only the rows in sight are on the page.
//
// Rows have one height. The list is one tab stop: arrows, Page Up and Down, Home and End move the
// selection, Enter opens it.

import { h } from "./dom.js";

export interface ListOptions {
  /** The name of the list, for those who hear it. */
  label: string;
  /** Pixels of one row. */
  rowHeight: number;
  /** How many rows there are now. */
  count: () => number;
  /** Makes a row. */
  row: (index: number) => HTMLElement;
  /** The selection moved. */
  onSelect?: (index: number) => void;
  /** Enter or a double click. */
  onOpen?: (index: number) => void;
  /** A single click opens too: rows are options of a list, which cannot have links of their own. */
  opensAtOnce?: boolean;
}

/** Rows made beyond either edge. */
const BEYOND = 10;
let lists = 0;

export class VirtualList {
  readonly element: HTMLElement;
  private readonly sheet: HTMLElement;
  private readonly rows = new Map<number, HTMLElement>();
  private readonly id = `list-${(lists += 1)}`;
  private selected = -1;
  private waiting = false;

  constructor(private readonly options: ListOptions) {
    this.sheet = h("div", { class: "list-sheet", role: "presentation" });
    this.element = h(
      "div",
      {
        class: "list",
        role: "listbox",
        tabindex: 0,
        "aria-label": options.label,
        onscroll: () => this.soon(),
        onkeydown: (event: KeyboardEvent) => this.key(event),
        onclick: (event: MouseEvent) => this.pointed(event, false),
        ondblclick: (event: MouseEvent) => this.pointed(event, true),
      },
      this.sheet,
    );
    new ResizeObserver(() => this.soon()).observe(this.element);
    this.refresh();
  }

  /** The data changed: makes the rows anew. */
  refresh(): void {
    this.rows.clear();
    this.sheet.replaceChildren();
    this.sheet.style.height = `${this.options.count() * this.options.rowHeight}px`;
    if (this.selected >= this.options.count()) this.selected = -1;
    this.draw();
  }

  /** Selects a row and brings it into sight; says so unless told not to. */
  select(index: number, tell: "tell" | "quietly" = "tell"): void {
    const last = this.options.count() - 1;
    if (last < 0) return;
    this.selected = Math.max(0, Math.min(index, last));
    this.show(this.selected);
    this.draw();
    if (tell === "tell") this.options.onSelect?.(this.selected);
  }

  /** The selected row, or -1. */
  selection(): number {
    return this.selected;
  }

  /** Brings a row into sight, in the middle if it was far away. */
  show(index: number): void {
    const { rowHeight } = this.options;
    const top = index * rowHeight;
    const box = this.element;
    if (top >= box.scrollTop && top + rowHeight <= box.scrollTop + box.clientHeight) return;
    const near = Math.abs(top - box.scrollTop) < 2 * box.clientHeight;
    if (!near) box.scrollTop = top - box.clientHeight / 2;
    else if (top < box.scrollTop) box.scrollTop = top;
    else box.scrollTop = top + rowHeight - box.clientHeight;
  }

  private soon(): void {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.draw();
    });
  }

  private draw(): void {
    const { rowHeight, count, row } = this.options;
    const height = this.element.clientHeight || 600;
    const first = Math.max(0, Math.floor(this.element.scrollTop / rowHeight) - BEYOND);
    const end = Math.min(count(), Math.ceil((this.element.scrollTop + height) / rowHeight) + BEYOND);
    for (const [index, element] of this.rows) {
      if (index < first || index >= end) {
        element.remove();
        this.rows.delete(index);
      }
    }
    for (let index = first; index < end; index += 1) {
      let element = this.rows.get(index);
      if (element === undefined) {
        element = row(index);
        this.dress(element, index);
        this.rows.set(index, element);
        this.sheet.append(element);
      }
      const chosen = index === this.selected;
      element.setAttribute("aria-selected", String(chosen));
      element.classList.toggle("selected", chosen);
    }
    if (this.selected < 0) this.element.removeAttribute("aria-activedescendant");
    else this.element.setAttribute("aria-activedescendant", `${this.id}-${this.selected}`);
  }

  private dress(element: HTMLElement, index: number): void {
    element.classList.add("list-row");
    element.id = `${this.id}-${index}`;
    element.dataset["index"] = String(index);
    element.setAttribute("role", "option");
    element.setAttribute("aria-posinset", String(index + 1));
    element.setAttribute("aria-setsize", String(this.options.count()));
    element.style.top = `${index * this.options.rowHeight}px`;
    element.style.height = `${this.options.rowHeight}px`;
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(this.element.clientHeight / this.options.rowHeight) - 1);
    const moves: Record<string, number> = {
      ArrowDown: this.selected + 1,
      ArrowUp: this.selected < 0 ? 0 : this.selected - 1,
      PageDown: this.selected + page,
      PageUp: this.selected - page,
      Home: 0,
      End: this.options.count() - 1,
    };
    const to = moves[event.key];
    if (to !== undefined) this.select(to);
    else if (event.key === "Enter" && this.selected >= 0) this.options.onOpen?.(this.selected);
    else return;
    event.preventDefault();
  }

  private pointed(event: MouseEvent, twice: boolean): void {
    if (!(event.target instanceof Element) || event.target.closest("a, button") !== null) return;
    const row = event.target.closest<HTMLElement>(".list-row");
    if (row === null) return;
    const index = Number(row.dataset["index"]);
    const { onOpen, opensAtOnce = false } = this.options;
    if (twice !== opensAtOnce) onOpen?.(index);
    else if (!twice) this.select(index);
  }
}
