// The report of a campaign: one page that opens from disk.
import { applyTheme } from "../shared/theme.js";

applyTheme();
export * from "../shared/graph.js";
export * from "../shared/sequence.js";
export * from "../shared/keys.js";
export * from "../shared/bars.js";
export * from "../shared/long.js";
export * from "../shared/copy.js";
export * from "../shared/verdict.js";
