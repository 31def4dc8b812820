// Makes one script and one style sheet for every page and puts them where Rust embeds them.
//
//   node build.mjs           writes the bundles
//   node build.mjs --check   says whether the bundles in the repository are those of these sources
//
// The bundles are committed: nobody needs Node to build or to use ioxide.
import { build } from "esbuild";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const pages = [
  { name: "report", to: join(here, "../crates/report/assets") },
  { name: "explorer", to: join(here, "../crates/explorer/assets") },
];
const check = process.argv.includes("--check");
let stale = 0;

for (const { name, to } of pages) {
  for (const kind of ["ts", "css"]) {
    const source = join(here, "src", name, `main.${kind}`);
    if (!existsSync(source)) continue;
    const target = join(to, `${name}.${kind === "ts" ? "js" : "css"}`);
    const text = await bundle(source);
    const old = existsSync(target) ? readFileSync(target, "utf8") : "";
    if (check && old !== text) {
      console.error(`stale: ${target}`);
      stale += 1;
    }
    if (!check) {
      mkdirSync(to, { recursive: true });
      writeFileSync(target, text);
      console.log(`${target.slice(join(here, "..").length + 1)}: ${Buffer.byteLength(text)} bytes`);
    }
  }
}
if (stale > 0) {
  console.error("the bundles are not those of the sources: run `./x web` and commit what it writes");
  process.exit(1);
}

async function bundle(source) {
  const result = await build({
    entryPoints: [source],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: ["chrome100", "firefox100", "safari15.4"],
    charset: "ascii",
    legalComments: "none",
  });
  return result.outputFiles[0].text;
}
