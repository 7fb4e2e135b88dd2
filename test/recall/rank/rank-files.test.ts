import { describe, expect, test } from "vitest";
import { listDefinitions } from "../../../src/recall/files/index-files.ts";
import type { FileTouch } from "../../../src/recall/rank/file-touches.ts";
import { type FileCandidate, rankFiles } from "../../../src/recall/rank/rank-files.ts";
import { analyzeText } from "../../../src/recall/text/analyze-text.ts";

const SOURCES: Readonly<Record<string, string>> = {
  "src/shop/basket.py": "class Basket:\n    def add_item(self, item):\n        self.items.append(item)\n",
  "src/shop/price.py": "def round_price(value):\n    return round(value, 2)\n",
  "src/shop/mail.py": "def send_receipt(basket):\n    template = 'basket item price total'\n",
  "tests/test_basket.py":
    "from shop.basket import Basket\n\ndef test_add_item():\n    Basket().add_item(1)\n    Basket().add_item(2)\n",
  "docs/conf.py": "project = 'shop basket price item'\n",
};

function first(question: string, sources = SOURCES, touches: readonly FileTouch[] = []): string | undefined {
  return order(question, sources, touches)[0];
}

function order(question: string, sources = SOURCES, touches: readonly FileTouch[] = []): string[] {
  const paths = Object.keys(sources);
  const files = paths.map((path, id): FileCandidate => {
    const source = sources[path] ?? "";
    const terms = analyzeText(source);
    return {
      id,
      path,
      length: terms.length,
      definitions: listDefinitions(source),
      chunks: [{ id, terms, traits: 0, similarity: null }],
    };
  });
  const lengths = files.reduce((sum, { length }) => sum + length, 0) / files.length;
  const statistics = {
    chunks: files.length,
    averageChunkLength: lengths,
    averageLength: lengths,
    frequencyOf: (term: string) => files.filter(({ chunks }) => chunks[0]?.terms.includes(term)).length,
  };
  return rankFiles(question, files, { statistics, touches }).map(({ id }) => paths[id] ?? "");
}

describe("rankFiles", () => {
  test("rankFiles puts the file that defines a named symbol before its tests", () => {
    expect(first("`Basket.add_item` loses the second item\n\nAdding twice keeps one.")).toBe(
      "src/shop/basket.py",
    );
  });

  test("rankFiles follows a traceback to its innermost frame in the project", () => {
    const issue = `It fails with a wrong type
Traceback (most recent call last):
  File "/usr/lib/app/src/shop/mail.py", line 3, in send_receipt
  File "/usr/lib/app/src/shop/price.py", line 2, in round_price
TypeError: bad operand`;
    expect(first(issue)).toBe("src/shop/price.py");
  });

  test("rankFiles reads a module's dotted name as a path", () => {
    expect(first("Something is wrong in shop.mail")).toBe("src/shop/mail.py");
  });

  test("rankFiles puts tests first when the issue is about them", () => {
    expect(first("test suite fails in test_basket for Basket.add_item")).toBe("tests/test_basket.py");
  });

  test("rankFiles treats a package of a monorepo, a tool and a script like any other source", () => {
    for (const folder of ["packages/core", "tools", "src/tools", "scripts"]) {
      const sources = Object.entries(SOURCES).map(([path, source]) => {
        return [path === "src/shop/basket.py" ? `${folder}/basket.py` : path, source] as const;
      });
      const issue = "The basket loses an item\n\nA basket with a second item keeps one.";
      expect(first(issue, Object.fromEntries(sources)), folder).toBe(`${folder}/basket.py`);
    }
  });

  test("rankFiles ranks a project the same wherever it is: in a package, a tool or a folder of tests", () => {
    const issues = [
      "`Basket.add_item` loses the second item\n\nAdding twice keeps one.",
      "The price of a basket is wrong\n\nround_price drops cents.",
      "Receipts are not sent: send_receipt fails in shop.mail",
    ];
    for (const folder of ["packages/core", "src/tools", "apps/web/benchmarks-app", "a/b/c"]) {
      const moved = Object.fromEntries(
        Object.entries(SOURCES).map(([path, source]) => [`${folder}/${path}`, source]),
      );
      for (const issue of issues)
        expect(order(issue, moved), folder).toEqual(order(issue).map((path) => `${folder}/${path}`));
    }
  });

  test("rankFiles prefers the file edited last, unless the question names another one", () => {
    const touches = [
      { path: "src/shop/price.py", isEdit: true },
      { path: "src/shop/mail.py", isEdit: false },
    ];
    expect(first("That is still wrong, please try again", SOURCES, touches)).toBe("src/shop/price.py");
    expect(first("Fix `Basket.add_item` in src/shop/basket.py", SOURCES, touches)).toBe("src/shop/basket.py");
    const often = Array.from({ length: 200 }, () => ({ path: "src/shop/price.py", isEdit: true }));
    expect(first("Where is `add_item`?", SOURCES, often)).toBe("src/shop/basket.py");
  });

  test("rankFiles accepts an empty question", () => {
    expect(first("")).toBeDefined();
  });
});
