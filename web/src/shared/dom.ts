// Elements from data: the only door by which text reaches the page.
//
// Strings become text nodes, so nothing in them is markup, and they are made visible first.

import { visible } from "./visible.js";

export type Child = Node | string | number | null | undefined | false | Child[];

/** Attributes; a function is a listener (`onclick`), `false` and `null` leave the attribute out. */
export type Props = Record<string, string | number | boolean | null | undefined | ((event: never) => void)> & {
  style?: never;
};

/** An HTML element. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props?: Props | null,
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  return filled(document.createElement(tag), props, children);
}

/** An SVG element. */
export function s<K extends keyof SVGElementTagNameMap>(
  tag: K,
  props?: Props | null,
  ...children: Child[]
): SVGElementTagNameMap[K] {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), props, children);
}

/** A path or an address that breaks behind its slashes first, where a line has no room for all of it. */
export function breakable(text: string): Child[] {
  return text.split(/(?<=[/:])/).flatMap((piece, at) => (at === 0 ? [piece] : [h("wbr"), piece]));
}

/** Puts `children` in the place of what `parent` holds. */
export function fill(parent: Element, ...children: Child[]): void {
  parent.replaceChildren();
  append(parent, children);
}

function filled<E extends Element>(element: E, props: Props | null | undefined, children: Child[]): E {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value as EventListener);
    else if (value === true) element.setAttribute(name, "");
    else element.setAttribute(name, visible(String(value)));
  }
  append(element, children);
  return element;
}

function append(parent: Element, children: Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) append(parent, child);
    else if (child instanceof Node) parent.append(child);
    else parent.append(document.createTextNode(visible(String(child))));
  }
}

/** The element with this id, which the page has. */
export function byId(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no #${id}`);
  return element;
}
