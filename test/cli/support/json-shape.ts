/** The fields of a JSON document as docs/cli.md writes them: `{"a","b"?,"c":{"d"},"e":[{"f"}]}`. */
export type Shape =
  | { readonly kind: "any" }
  | { readonly kind: "list"; readonly of: Shape }
  | {
      readonly kind: "object";
      readonly fields: ReadonlyMap<string, { readonly isOptional: boolean; readonly shape: Shape }>;
    };

const ANY: Shape = { kind: "any" };

/** The shapes in a section of the page, in their order. */
export function findShapes(page: string, section: string): readonly Shape[] {
  const start = page.indexOf(`\n## ${section}\n`) + 1 || (page.startsWith(`## ${section}\n`) ? 0 : -1);
  if (start < 0) return [];
  const end = page.indexOf("\n## ", start + 1);
  const text = page.slice(start, end < 0 ? undefined : end).replace(/```[\s\S]*?```/g, "");
  return [...text.matchAll(/`(\{"[^`]*\})`/g)].map(([, shape]) => parseShape(shape as string));
}

function parseShape(text: string): Shape {
  let at = 0;
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    at += found?.length ?? 0;
    return found;
  };
  const read = (): Shape => {
    if (take(/\{/y)) {
      const fields = new Map<string, { isOptional: boolean; shape: Shape }>();
      while (!take(/\s*\}/y)) {
        if (take(/…/y)) continue;
        const name = take(/"[^"]+"/y);
        if (name === undefined) throw new Error(`no shape at ${text.slice(at)}`);
        const isOptional = take(/\?/y) !== undefined;
        fields.set(name.slice(1, -1), { isOptional, shape: take(/:/y) ? read() : ANY });
        take(/,\s*/y);
      }
      return { kind: "object", fields };
    }
    if (take(/\[/y)) {
      const of = take(/…/y) ? ANY : read();
      take(/\]/y);
      return { kind: "list", of };
    }
    take(/"[^"]*"|[\w.-]+/y);
    return ANY;
  };
  return read();
}
