// Makes one script and one style sheet for every page and puts them where Rust embeds them.
//
//   node build.mjs           writes the bundles
//   node build.mjs --check   says whether the bundles in the repository are those of these sources
//
// The bundles are committed: nobody needs Node to build or to use ioxide.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const pages = [
  // The report has both inside, so it says by their hashes what it may use; the explorer's server says it in a header.
  { name: "report", to: join(here, "../crates/report/assets"), inside: true },
  { name: "explorer", to: join(here, "../crates/explorer/assets") },
  { name: "learning", to: join(here, "../crates/explorer/assets") },
];
const check = process.argv.includes("--check");
let stale = 0;

for (const { name, to, inside } of pages) {
  if (!existsSync(join(here, "src", name, "main.ts"))) continue;
  const script = await bundle(join(here, "src", name, "main.ts"));
  const style = await bundle(join(here, "src", name, "main.css"));
  keep(join(to, `${name}.js`), script);
  keep(join(to, `${name}.css`), style);
  if (!inside) continue;
  // They must not end the element they stand in.
  if (/<\/(script|style)|<!--/i.test(script + style)) throw new Error(`${name}: a bundle would end its element`);
  const sources = `script-src '${hash(script)}'; style-src '${hash(style)}'`;
  const policy = `default-src 'none'; ${sources}; base-uri 'none'; form-action 'none'`;
  keep(join(to, `${name}.csp`), `${policy}\n`);
}
if (stale > 0) {
  console.error("the bundles are not those of the sources: run `./x web` and commit what it writes");
  process.exit(1);
}

function hash(text) {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}

/** Writes a file, or says that the one that is there is another. */
function keep(target, text) {
  const name = target.slice(join(here, "..").length + 1);
  if (check) {
    const old = existsSync(target) ? readFileSync(target, "utf8") : "";
    if (old !== text) {
      console.error(`stale: ${name}`);
      stale += 1;
    }
    return;
  }
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, text);
  console.log(`${name}: ${Buffer.byteLength(text)} bytes`);
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
