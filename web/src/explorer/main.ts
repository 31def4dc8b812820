// The explorer: one picture of the model, and beside it what can be done.

import { byId, fill, h } from "../shared/dom.js";
import { applyTheme, themeButton } from "../shared/theme.js";
import type { ModelView } from "./views.js";
import { get } from "./api.js";
import { EditScreen } from "./edit.js";
import { LiveScreen } from "./live.js";
import { Picture } from "./picture.js";
import { type Route, read } from "./route.js";
import { RunScreen, RunsScreen } from "./runs.js";
import type { Screen } from "./screen.js";
import { WalkScreen } from "./walk.js";

const TABS: [Route["screen"], string, string][] = [
  ["walk", "Walk", "w"],
  ["symbolic", "Symbolic", "s"],
  ["edit", "Edit", "e"],
  ["runs", "Runs", "r"],
  ["live", "Live", "l"],
];

class App {
  private readonly picture: Picture;
  private readonly editor: EditScreen;
  private screens: Record<Route["screen"], Screen>;
  private readonly title = h("h1", null);
  private readonly tabs = h("nav", { "aria-label": "screens" });
  private readonly place = h("main", { "aria-label": "actions" });
  private readonly hints = h("footer", { "aria-label": "keys" });
  private current: Screen | null = null;

  constructor(private model: ModelView) {
    this.picture = new Picture(model, (number) => this.current?.pointed(number));
    this.editor = new EditScreen({
      picture: this.picture,
      model: () => this.model,
      use: (changed) => this.use(changed),
      refresh: () => this.refresh(),
    });
    this.screens = this.makeScreens();
    fill(this.title, model.name);
    const head = h(
      "header",
      null,
      h("strong", { class: "brand" }, "ioxide"),
      this.title,
      h("span", { class: "soft file" }, model.file),
      this.tabs,
      themeButton(),
    );
    fill(byId("app"), head, h("div", { class: "columns" }, this.picture.element, this.place), this.hints);
    addEventListener("hashchange", () => void this.show());
    document.addEventListener("keydown", (event) => this.key(event));
  }

  private makeScreens(): Record<Route["screen"], Screen> {
    const { model, picture } = this;
    const refresh = (): Promise<void> => this.refresh();
    return {
      walk: new WalkScreen(model, picture, false, refresh),
      symbolic: new WalkScreen(model, picture, true, refresh),
      edit: this.editor,
      runs: new RunsScreen(picture),
      run: new RunScreen(model, picture, refresh),
      live: new LiveScreen(model, picture),
    };
  }

  /** Shows another model; the screens begin anew with it, but for the one that edits it. */
  private use(model: ModelView): void {
    this.model = model;
    this.picture.replace(model);
    fill(this.title, model.name);
    this.screens = this.makeScreens();
    if (this.current !== this.editor) void this.show();
  }

  /** Asks for the model again, which another page may have changed. */
  private async refresh(): Promise<void> {
    const model = await get<ModelView>("model");
    if (model.revision !== this.model.revision) this.use(model);
  }

  /** Shows what the address says. */
  async show(): Promise<void> {
    const route = read(location.hash);
    const screen = this.screens[route.screen];
    if (screen !== this.current) {
      this.current?.leave();
      this.current = screen;
      fill(this.place, screen.element);
      this.around(route, screen);
    }
    try {
      await screen.show(route);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      fill(
        screen.element,
        h(
          "section",
          { class: "card problem", role: "alert" },
          h("h2", null, "This cannot be shown"),
          h("p", null, why),
        ),
      );
    }
  }

  private around(route: Route, screen: Screen): void {
    document.title = `${this.model.name}: ${route.screen} · ioxide`;
    const tab = ([name, text, key]: [Route["screen"], string, string]): HTMLElement => {
      const here = name === route.screen || (name === "runs" && route.screen === "run");
      return h(
        "a",
        { href: `#/${name}`, class: here ? "here" : "", "aria-current": here ? "page" : null },
        text,
        " ",
        h("kbd", null, key),
      );
    };
    fill(this.tabs, TABS.map(tab));
    const hints = [...screen.keys(), ["m", "the picture: arrows, + −"] as [string, string]];
    fill(this.hints, hints.map(([key, what]) => h("span", { class: "hint" }, h("kbd", null, key), ` ${what}`)));
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const target = event.target instanceof Element ? event.target : null;
    if (target?.closest("input, select, textarea, dialog") != null) return;
    if (event.key === "Enter" && target?.closest("button, a, .list") != null) return;
    if (event.key === " " && target?.closest("button, .list") != null) return;
    if (target?.closest(".graph") != null && /^([0-9+=-]|Arrow.*)$/.test(event.key)) return;
    if (this.current?.key(event.key) !== true && !this.open(event.key)) return;
    event.preventDefault();
  }

  private open(key: string): boolean {
    if (key === "m") this.picture.focus();
    else {
      const tab = TABS.find(([, , bound]) => bound === key);
      if (tab === undefined) return false;
      location.hash = `#/${tab[0]}`;
    }
    return true;
  }
}

applyTheme();
get<ModelView>("model").then(
  (model) => new App(model).show(),
  (error: unknown) =>
    fill(
      byId("app"),
      h(
        "p",
        { class: "card problem", role: "alert" },
        `The explorer was closed: ${error instanceof Error ? error.message : String(error)}`,
      ),
    ),
);
