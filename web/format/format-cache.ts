import { language } from "../i18n/language.ts";

const formats = new Map<string, unknown>();

/** A format of the reader's language, made once: making one takes longer than drawing a row of a table. */
export function getFormat<Options extends object, Format>(
  Kind: { readonly name: string; new (language: string, options: Options): Format },
  options: Options,
): Format {
  const key = `${Kind.name} ${language.value} ${JSON.stringify(options)}`;
  const known = formats.get(key) as Format | undefined;
  if (known) return known;
  const made = new Kind(language.value, options);
  formats.set(key, made);
  return made;
}
