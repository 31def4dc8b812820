// How the server is asked; what it tells is in `views.ts`.

/** The server refused a request; the message is its reason. */
export class Refusal extends Error {
  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message);
  }
}

/** Asks for something. */
export async function get<T>(path: string): Promise<T> {
  return answer(await fetch(`api/${path}`));
}

/** Asks for something that takes an argument, or has something done. */
export async function post<T>(path: string, body: unknown): Promise<T> {
  const headers = { "Content-Type": "application/json" };
  return answer(await fetch(`api/${path}`, { method: "POST", headers, body: JSON.stringify(body) }));
}

async function answer<T>(response: Response): Promise<T> {
  if (response.ok) return (await response.json()) as T;
  const text = await response.text();
  throw new Refusal(reason(text) ?? `the server refused: ${response.status}`, response.status);
}

function reason(text: string): string | undefined {
  try {
    return (JSON.parse(text) as { error?: string }).error;
  } catch {
    return text.trim() || undefined;
  }
}
