import core from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import csharp from "highlight.js/lib/languages/csharp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import markdown from "highlight.js/lib/languages/markdown";
import php from "highlight.js/lib/languages/php";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";

const LANGUAGES = {
  ...{ bash, c, cpp, csharp, css, diff, go, ini, java, javascript, json, markdown, php, python, ruby, rust },
  ...{ sql, typescript, xml, yaml },
};
for (const [name, language] of Object.entries(LANGUAGES)) core.registerLanguage(name, language);

/** Longer code stays plain: coloring it would block the page. */
const MAX_CHARACTERS = 50_000;

/** Colors code as HTML of spans; undefined if the language is unknown or the code is too long. */
export function highlight(code: string, language: string): string | undefined {
  if (code.length > MAX_CHARACTERS || !core.getLanguage(language)) return undefined;
  return core.highlight(code, { language, ignoreIllegals: true }).value;
}
