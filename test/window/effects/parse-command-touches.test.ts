import fc from "fast-check";
import { expect, test } from "vitest";
import { parseCommandTouches } from "../../../src/window/effects/find-touches.ts";

const read = (path: string, from?: number, to?: number) => ({
  kind: "read",
  path,
  ...(from !== undefined && { range: { from, to } }),
});

test.each<[string, object[]]>([
  ["cat a.ts", [read("a.ts")]],
  ["cat -n 'a b.ts' 2>/dev/null", [read("a b.ts")]],
  ["cat a.ts b.ts", [read("a.ts"), read("b.ts")]],
  ["cd /x && cat ./a.ts", [read("/x/a.ts")]],
  ["cd x; cat ../a.ts", [read("a.ts")]],
  ["sed -n '10,20p' a.ts", [read("a.ts", 10, 20)]],
  ["sed -n 7p a.ts", [read("a.ts", 7, 7)]],
  ["sed -n '10,$p' a.ts", [read("a.ts", 10, Number.POSITIVE_INFINITY)]],
  ["nl -ba a.ts | sed -n '1,5p;9,12p'", [read("a.ts", 1, 5), read("a.ts", 9, 12)]],
  ["head a.ts", [read("a.ts", 1, 10)]],
  ["head -20 a.ts", [read("a.ts", 1, 20)]],
  ["head -n 20 a.ts", [read("a.ts", 1, 20)]],
  ["head -n20 a.ts", [read("a.ts", 1, 20)]],
  ["tail -n +5 a.ts", [read("a.ts", 5, Number.POSITIVE_INFINITY)]],
  ["tail -n 5 a.ts", [read("a.ts", -5, -1)]],
  ["cat a.ts | head -n 3", [read("a.ts", 1, 3)]],
  ["nl -b a a.ts", [read("a.ts")]],
  ["less a.ts", [read("a.ts")]],
  ["sed -n '1,5p' a.ts && sed -n '9,12p' b.ts", [read("a.ts", 1, 5), read("b.ts", 9, 12)]],
  ["cat > a.ts <<'EOF'\nlet x;\nEOF", [{ kind: "write", path: "a.ts" }]],
])("the files that %s reads or writes are recognized", (command, touches) => {
  expect(parseCommandTouches(command)).toEqual(touches);
});

test.each([
  "cat a.ts | grep x",
  "cat a.ts > b.ts",
  "cat $FILE",
  "cat *.ts",
  "cat a.ts || true",
  "cat a.ts & wait",
  "cat `ls`",
  'cat "$(ls)"',
  "cat 'a.ts",
  "cat a.ts && npm test",
  "npm test && cat a.ts",
  "cat a.ts | sed -n '1,5p' | head -n 2",
  "sed -i 's/a/b/' a.ts",
  "sed -n '5,1p' a.ts",
  "sed -n '1,5p;/x/p' a.ts",
  "head -c 20 a.ts",
  "head -n -5 a.ts",
  "cat",
  "cat -",
  "cd /x",
  "",
  "cat > a.ts <<EOF\nx\nEOF\nnpm test",
])("the command %s counts as run, because its effect is uncertain", (command) => {
  expect(parseCommandTouches(command)).toEqual([{ kind: "run", command }]);
});

test("no command makes the parser throw", () => {
  const words = fc.constantFrom(
    "cat",
    "sed",
    "-n",
    "head",
    "'",
    '"',
    "|",
    "&&",
    ";",
    "a",
    "1,2p",
    "<<EOF",
    "\n",
    " ",
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(words, fc.string({ maxLength: 4 }))), (pieces) => {
      expect(parseCommandTouches(pieces.join(" ")).length).toBeGreaterThan(0);
    }),
  );
});
