import type { Random } from "./random.ts";
import { type Maker, templates } from "./template.ts";

const PROSE = templates(
  "The {noun} in {file} {verb} the {quality} {noun} {when}. ",
  "I looked at {function} and the {noun} is {quality} {because}. ",
  "Please {do} the {noun} and {do} the {noun} that comes with it. ",
  "It happens {when}, about {number} times out of {number}, and then the {noun} {verb} {number} rows. ",
  "{person} saw the same thing {when}: the {noun} took {decimal} ms and the {noun} was {quality}. ",
  "We could {do} {function} first, but the {quality} {noun} would still be there {because}. ",
  "Next I will {do} the {noun} in {file}, run the tests again and compare with commit {hex}. ",
  "That explains why the {noun} {verb} the {noun}; the {quality} one was only a symptom. ",
  "If the {noun} is {quality}, the {noun} {verb} it {when}, which costs {decimal} ms and {number} kB. ",
  "Nothing else depends on the {quality} {noun}, so it is safe to {do} it. ",
  "For the record: request {hex} at {clock} was answered in {decimal} ms. ",
);

const CODE = templates(
  "export async function {function}({variable}: {type}, {variable}: {type}): Promise<{type}> {\n",
  "  const {variable} = await {function}({variable}, {number});\n",
  "  if ({variable}.length > {number}) return {function}({variable});\n",
  "  for (const {variable} of {variable}) {variable}.push({function}({variable}));\n",
  "  // The {noun} {verb} the {noun} {when}.\n",
  "  expect({function}({variable})).toEqual({number});\n",
  "  {variable}.set({variable}.id, { at: {number}, digest: 0x{hex} });\n",
  "  throw new Error(`{function} {verb} the {quality} {noun}`);\n",
  "}\n\n",
);

const OUTPUT = templates(
  "{clock} {level} {noun}: {function} took {decimal} ms ({number} rows, {hex})\n",
  "{clock} {level} {noun} {hex} {verb} {noun} {when}\n",
  "  PASS  {file} ({number} tests) {decimal} ms\n",
  "  at {function} (file:///app/{file}:{number}:{number})\n",
  "{file}:{number}:  const {variable} = {function}({variable});\n",
  "{hex} {do} the {quality} {noun} ({person})\n",
  " {file} | {number} ++++++----\n",
  "-rw-r--r-- 1 app app {number}{number} {clock} {file}\n",
  "GET /{noun}/{number} 200 {decimal} ms {hex}{hex}\n",
);

const COMMAND = templates("{command}");
const PATH = templates("{file}");

export function command(random: Random): string {
  return write(COMMAND, random, 1);
}

/** A file path in the agent's project. */
export function path(random: Random): string {
  return write(PATH, random, 1);
}

/** Sentences of about `length` characters. */
export function prose(random: Random, length: number): string {
  return write(PROSE, random, length).trimEnd();
}

/** Lines of code of about `length` characters. */
export function code(random: Random, length: number): string {
  return write(CODE, random, length);
}

/** Shell output of about `length` characters. */
export function output(random: Random, length: number): string {
  return write(OUTPUT, random, length);
}

function write(makers: readonly Maker[], random: Random, length: number): string {
  let text = "";
  while (text.length < length) text += random.pick(makers)(random);
  return text;
}
