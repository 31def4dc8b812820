// A system that is learned, watched: the hypothesis as it grows, what is asked, what is promised, and the end.

import { byId, fill, h } from "../shared/dom.js";
import { applyTheme, themeButton } from "../shared/theme.js";
import { duration } from "../shared/time.js";
import { excerpt } from "../shared/visible.js";
import type { LearningView } from "./views.js";
import { HypothesisPicture } from "./picture.js";

class Page {
  private readonly picture = new HypothesisPicture();
  private readonly title = h("h1", null, "learning");
  private readonly about = h("span", { class: "soft file" });
  private readonly status = h("div", { class: "status" });
  private readonly gone = h("div", { "aria-live": "polite" });
  private events: EventSource | null = null;
  private over = false;

  constructor() {
    const head = h(
      "header",
      null,
      h("strong", { class: "brand" }, "ioxide"),
      this.title,
      this.about,
      themeButton(),
    );
    const panel = h(
      "div",
      // It scrolls and has nothing else that could take the focus.
      { class: "panel learning", tabindex: 0, role: "region", "aria-label": "progress of learning" },
      this.gone,
      this.status,
      this.picture.news,
    );
    const main = h("main", { "aria-label": "progress" }, panel);
    fill(byId("app"), head, h("div", { class: "columns" }, this.picture.element, main));
  }

  listen(): void {
    this.events = new EventSource("api/learning/events");
    this.events.onmessage = ({ data }: MessageEvent<string>) => this.tell(JSON.parse(data) as LearningView);
    this.events.onerror = () => this.lost();
    this.events.onopen = () => fill(this.gone);
  }

  /** Nobody answers: what was told stays. The browser tries again by itself. */
  private lost(): void {
    const text = this.over
      ? "The command has ended; this is its last state."
      : "No answer: the command has ended, or the connection broke. This is its last state.";
    fill(this.gone, h("section", { class: "card problem", role: "alert" }, h("p", null, text)));
  }

  private tell(view: LearningView): void {
    fill(this.gone);
    this.over = view.end !== null;
    document.title = `${view.end === null ? "learning" : "learned"}: ${excerpt(view.system, 60)} · ioxide`;
    fill(this.title, view.end === null ? "learning " : "learned ", h("code", null, excerpt(view.system, 120)));
    fill(this.about, `${view.kind}; messages of ${excerpt(view.model, 80)}`);
    fill(
      this.status,
      this.end(view),
      this.stage(view),
      this.figures(view),
      this.surprise(view),
      this.disagreement(view),
      this.notes(view),
    );
    this.picture.follow(view.picture);
  }

  private end({ end }: LearningView): HTMLElement | false {
    if (end === null) return false;
    const where = end.out === null ? "The model was printed on the terminal." : `The model is in ${end.out}.`;
    return h(
      "section",
      { class: end.has_model ? "card done" : "card forbidden", "aria-label": "result" },
      h("h2", { id: "result" }, end.has_model ? "Learned" : "There is no model"),
      end.lines.map((line) => h("p", null, line)),
      end.has_model && h("p", { id: "out" }, where),
    );
  }

  private stage(view: LearningView): HTMLElement | false {
    if (view.end !== null) return false;
    const words: Record<LearningView["phase"], string> = {
      asking:
        view.hypotheses === 0 ? "Asking, for the first hypothesis" : `Asking, after hypothesis ${view.hypotheses}`,
      testing:
        `Testing hypothesis ${view.hypotheses} with suite ${view.suite}, ` +
        `for ${view.extra} of ${view.most_extra} extra states`,
      walking: `Testing hypothesis ${view.hypotheses} with random inputs`,
      drafting: "Drafting a model with choices: the system answers in several ways",
      timers: "Finding out which moves start a timer",
      over: "Over",
    };
    const bar = h("span", { class: "bar-ink" });
    bar.style.width = `${(100 * view.done) / Math.max(1, view.of)}%`;
    const left = view.left_ms === null ? "" : `; ${duration(view.left_ms * 1e6)} left if nothing is found`;
    const what = view.phase === "walking" ? "walks" : "tests";
    return h(
      "section",
      { class: "card figures", "aria-label": "stage" },
      h("h2", { id: "phase" }, words[view.phase]),
      view.of > 0 && h("p", null, h("span", { class: "bar-rail" }, bar)),
      view.of > 0 &&
        h(
          "p",
          { class: "soft", id: "left" },
          `${view.done.toLocaleString("en")} of ${view.of.toLocaleString("en")} ${what}${left}`,
        ),
      view.phase === "drafting" && h("p", { class: "soft" }, "There is no picture before the draft is done."),
      h(
        "p",
        { id: "guarantee" },
        view.guarantee === "" ? "Nothing is proven about this hypothesis yet." : `So far: ${view.guarantee}.`,
      ),
    );
  }

  private figures(view: LearningView): HTMLElement {
    const count = (id: string, name: string, value: string): HTMLElement =>
      h("div", { class: "figure" }, h("dt", null, name), h("dd", { id }, value));
    const number = (n: number): string => n.toLocaleString("en");
    return h(
      "section",
      { class: "card", "aria-label": "figures" },
      h(
        "dl",
        { class: "figure-list" },
        count("hypotheses", "hypotheses", number(view.hypotheses)),
        count("states", "states", number(view.states)),
        count("inputs", "inputs", number(view.inputs)),
        count("resets", "resets", number(view.resets)),
        count("symbols", "messages", number(view.symbols)),
        count("rate", "messages a second", number(Math.round(view.per_second * 10) / 10)),
        count(
          "elapsed",
          "time",
          view.elapsed_ms < 1000 && view.end === null
            ? "0 s"
            : duration((view.end === null ? 1e3 * Math.floor(view.elapsed_ms / 1e3) : view.elapsed_ms) * 1e6),
        ),
      ),
    );
  }

  private surprise({ counterexample }: LearningView): HTMLElement | false {
    if (counterexample === null) return false;
    const { hypothesis, steps, believed } = counterexample;
    const rows = steps.map(({ input, answer }, at) =>
      h(
        "li",
        { class: at === steps.length - 1 ? "past bad" : "past" },
        h("span", { class: "n" }, at + 1),
        h("code", null, `${excerpt(input, 200)} / ${excerpt(answer, 200)}`),
      ),
    );
    return h(
      "section",
      { class: "card history", id: "surprise", "aria-label": "last counterexample" },
      h("h2", null, `Counterexample to hypothesis ${hypothesis}`),
      h("ol", { class: "past-list", tabindex: 0, "aria-label": "counterexample" }, rows),
      h("p", null, "The hypothesis predicted ", h("code", null, excerpt(believed, 200)), " in the end."),
    );
  }

  private disagreement({ disagreement }: LearningView): HTMLElement | false {
    if (disagreement.length === 0) return false;
    const lines = disagreement.map((line) => h("p", null, h("code", null, line)));
    return h(
      "section",
      { class: "card problem", "aria-label": "disagreement" },
      h("h2", null, "Two runs that disagree"),
      lines,
    );
  }

  private notes({ notes }: LearningView): HTMLElement | false {
    if (notes.length === 0) return false;
    return h(
      "section",
      { class: "card", "aria-label": "notes" },
      h("h2", null, "Notes"),
      h(
        "ul",
        null,
        [...notes].reverse().map((note) => h("li", null, note)),
      ),
    );
  }
}

applyTheme();
new Page().listen();
