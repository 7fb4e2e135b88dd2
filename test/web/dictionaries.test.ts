import { readdirSync } from "node:fs";
import { expect, test } from "vitest";

const folder = new URL("../../web/i18n/", import.meta.url);
const listNames = (language: string) => readdirSync(new URL(`${language}/`, folder)).sort();

/** The texts of one part in one language. */
async function readTexts(language: "en" | "zh", name: string): Promise<Readonly<Record<string, string>>> {
  const module = await import(new URL(`${language}/${name}`, folder).href);
  return module[language];
}

const listPlaceholders = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();

test("the English and the Chinese dictionary have the same parts", () => {
  expect(listNames("en").length).toBeGreaterThan(0);
  expect(listNames("zh")).toEqual(listNames("en"));
});

test.each(listNames("en"))("the texts of %s have the same keys in both languages", async (name) => {
  const en = await readTexts("en", name);
  const zh = await readTexts("zh", name);
  expect(Object.keys(zh).sort()).toEqual(Object.keys(en).sort());
  for (const [key, text] of Object.entries(en)) {
    expect([key, listPlaceholders(zh[key] ?? "")]).toEqual([key, listPlaceholders(text)]);
    expect(zh[key]?.trim(), key).toBeTruthy();
  }
});
