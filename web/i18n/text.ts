import { type Language, language } from "./language.ts";

/** The texts of one part of the dashboard, by key. Placeholders stand in braces: "{count} entries". */
export type Texts<Keys extends string = string> = Readonly<Record<Keys, string>>;

type Placeholders<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholders<Rest>
  : never;
type Values<Text extends string> = Readonly<Record<Placeholders<Text>, string | number>>;
type Rest<Text extends string> = [Placeholders<Text>] extends [never] ? [] : [values: Values<Text>];

/** Returns the text of a key in the reader's language, with its placeholders filled. */
export type Translate<Source extends Texts> = <Key extends keyof Source & string>(
  key: Key,
  ...values: Rest<Source[Key]>
) => string;

/** Makes the function that translates. Reading it in a component renders the component again in a new language. */
export function createText<const Source extends Texts>(
  dictionaries: { readonly en: Source } & Readonly<
    Record<Exclude<Language, "en">, Texts<keyof Source & string>>
  >,
): Translate<Source> {
  return (key, ...[values]) => fillText(dictionaries[language.value][key], values ?? {});
}

/** Fills the placeholders of a text. */
export function fillText(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}
