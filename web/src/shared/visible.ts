// Text that shows what it holds: nothing invisible, nothing that moves the reader's eye.
//
// What a system says is not trusted. Control characters, bidirectional marks and characters
// without width are written as \u{...}, as in the reports of the terminal.

const HIDDEN =
  // eslint-disable-next-line no-control-regex
  new RegExp(
    [
      String.raw`[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f]`,
      String.raw`[\ufeff\ufff9-\ufffb\ufffe\uffff]`,
      String.raw`[\ud800-\udbff](?![\udc00-\udfff])`,
      String.raw`(?<![\ud800-\udbff])[\udc00-\udfff]`,
      String.raw`[\u{e0000}-\u{e007f}]`,
    ].join("|"),
    "gu",
  );

/** `text` with every hidden character written out; line breaks and tabs stay. */
export function visible(text: string): string {
  return text.replace(HIDDEN, (c) => `\\u{${(c.codePointAt(0) ?? 0).toString(16)}}`);
}

/** `text` on one line, cut after `max` characters. */
export function excerpt(text: string, max: number): string {
  const cut = text.length > max ? `${text.slice(0, max)}…` : text;
  return cut.replace(/[\n\t]/g, " ");
}
