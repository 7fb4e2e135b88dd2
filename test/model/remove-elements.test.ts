import { expect, test } from "vitest";
import { removeElements } from "../../src/model/remove-elements.ts";

const OPENING = /<((?:note|aside)[-\w]*)(?![\w-])[^<>]*>/gi;
const remove = (text: string) => removeElements(text, OPENING, " ");

test("an element is removed with its content, whatever its attributes and case", () => {
  expect(remove('a<note id="1">x</note>b<ASIDE>y</aside>c')).toBe("a b c");
  expect(remove("a<note-two>\nx <b>y</b>\n</note-two>b")).toBe("a b");
});

test("an element ends at the first closing tag of its name", () => {
  expect(remove("<note>a<aside>b</note>c</aside>d")).toBe(" c</aside>d");
});

test("an element without a closing tag stays, and later elements are removed", () => {
  expect(remove("<note>a <aside>b</aside> c")).toBe("<note>a   c");
  expect(remove("<note <aside>b</aside>")).toBe("<note  ");
});

test("characters whose lower case is longer do not shift the removed range", () => {
  expect(remove("İİİ<note>x</note>İ")).toBe("İİİ İ");
});

test("a text of many unclosed tags is read in linear time", () => {
  const text = Array.from({ length: 100_000 }, (_, index) => `<note-${index}>`).join("");
  expect(remove(text)).toBe(text);
});
