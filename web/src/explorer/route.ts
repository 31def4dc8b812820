// The address is the path of choices: it can be sent to somebody, and the back button goes back.

export type Route =
  | { screen: "walk"; path: string[] }
  | { screen: "symbolic"; path: string[] }
  | { screen: "edit" }
  | { screen: "runs" }
  | { screen: "run"; record: number; run: number; step: number }
  | { screen: "live" };

/** The route an address means; nonsense means the start of a walk. */
export function read(hash: string): Route {
  const [screen, ...rest] = hash.replace(/^#\/?/, "").split("/");
  const path = rest.filter((segment) => segment !== "").map(decoded);
  switch (screen) {
    case "symbolic":
      return { screen, path };
    case "edit":
    case "runs":
      return { screen };
    case "run": {
      const [record, run, step] = path.map(Number);
      const number = (n: number | undefined): number => (n !== undefined && Number.isSafeInteger(n) && n >= 0 ? n : 0);
      return { screen, record: number(record), run: number(run), step: number(step) };
    }
    case "live":
      return { screen };
    default:
      return { screen: "walk", path: screen === "walk" ? path : [] };
  }
}

/** The address of a route. */
export function write(route: Route): string {
  switch (route.screen) {
    case "walk":
    case "symbolic":
      return ["#", route.screen, ...route.path.map(encoded)].join("/");
    case "run":
      return `#/run/${route.record}/${route.run}/${route.step}`;
    default:
      return `#/${route.screen}`;
  }
}

/** Goes somewhere; the back button comes back. */
export function go(route: Route): void {
  location.hash = write(route);
}

/** Writes the address another way; nothing else happens. */
export function rename(route: Route): void {
  const hash = write(route);
  if (hash !== location.hash) history.replaceState(null, "", hash);
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Escapes what an address cannot hold, and leaves readable what it can. */
function encoded(segment: string): string {
  return encodeURIComponent(segment).replace(/%(3F|3A|2C|40|2B|3D)/g, (escape) => decodeURIComponent(escape));
}
