// What the page shows beside the picture of the model.

import type { Route } from "./route.js";

export interface Screen {
  readonly element: HTMLElement;
  /** Shows what the address says. */
  show(route: Route): Promise<void>;
  /** Its keys, for the line that lists them. */
  keys(): [string, string][];
  /** A key was pressed; whether it meant something. */
  key(key: string): boolean;
  /** A switch of the picture was clicked. */
  pointed(number: number): void;
  /** Another screen comes. */
  leave(): void;
}
