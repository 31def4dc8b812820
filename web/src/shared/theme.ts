// Light and dark: as the system says, until somebody chooses.

import { h } from "./dom.js";

const KEY = "ioxide-theme";

/** Applies the theme chosen before. */
export function applyTheme(): void {
  const chosen = remembered();
  if (chosen !== null) document.documentElement.dataset["theme"] = chosen;
}

/** A button that changes between light and dark. */
export function themeButton(): HTMLElement {
  const button = h("button", { class: "quiet", type: "button", onclick: () => change() });
  const tell = (): void => {
    const other = current() === "dark" ? "light" : "dark";
    button.textContent = other === "dark" ? "◐ dark" : "◑ light";
    button.setAttribute("aria-label", `change to ${other} colours`);
  };
  const change = (): void => {
    const other = current() === "dark" ? "light" : "dark";
    document.documentElement.dataset["theme"] = other;
    remember(other);
    tell();
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", tell);
  tell();
  return button;
}

/** The theme in force. */
export function current(): "light" | "dark" {
  const chosen = document.documentElement.dataset["theme"];
  if (chosen === "light" || chosen === "dark") return chosen;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

// A page opened from disk may have no storage: then the choice lasts as long as the page.
function remembered(): string | null {
  try {
    const theme = localStorage.getItem(KEY);
    return theme === "light" || theme === "dark" ? theme : null;
  } catch {
    return null;
  }
}

function remember(theme: string): void {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // Nothing is lost but the choice.
  }
}
