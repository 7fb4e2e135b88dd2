import { describe, expect, test } from "vitest";
import { parseArguments, parseCountOption, splitCommand } from "../../src/cli/parse-arguments.ts";
import { UsageError } from "../../src/cli/usage-error.ts";

const COMMAND = {
  name: "fetch",
  options: {
    limit: { type: "string", value: "N", help: "" },
    format: { type: "string", multiple: true, help: "" },
    all: { type: "boolean", short: "a", help: "" },
  },
  maxOperands: 1,
} as const;

const messageOf = (args: readonly string[]) => {
  try {
    parseArguments(COMMAND, args);
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError);
    return (error as Error).message;
  }
  return undefined;
};

describe("arguments", () => {
  test("arguments are split into options of the command, options of every command, and operands", () => {
    const args = ["x", "--limit=3", "-a", "--format", "one", "--format", "two", "--store", "here", "-q"];
    expect(parseArguments(COMMAND, args)).toEqual({
      operands: ["x"],
      options: { limit: "3", all: true, format: ["one", "two"], store: "here", quiet: true },
    });
  });

  test("arguments after two dashes may begin with a dash", () => {
    expect(parseArguments(COMMAND, ["--", "--limit"]).operands).toEqual(["--limit"]);
  });

  test("a wrong argument is refused by name", () => {
    expect(messageOf(["--limt", "3"])).toBe("fetch has no option --limt; did you mean --limit?");
    expect(messageOf(["-x"])).toBe("fetch has no option -x");
    expect(messageOf(["--limit"])).toBe("--limit needs a value: --limit N");
    expect(messageOf(["--limit="])).toBe("--limit needs a value: --limit N");
    expect(messageOf(["--limit", "--all"])).toBe(
      "--limit needs a value; write a value that begins with a dash as --limit=--all",
    );
    expect(messageOf(["--all=yes"])).toBe("--all takes no value");
    expect(messageOf(["one", "two"])).toBe('fetch does not take "two"');
    expect(messageOf(["--__proto__"])).toBe("fetch has no option --__proto__");
    expect(messageOf(["--constructor"])).toBe("fetch has no option --constructor");
  });

  test("the command may follow options that every command has", () => {
    expect(splitCommand(["--store", "fetch", "-q", "fetch", "--limit", "3"])).toEqual({
      name: "fetch",
      rest: ["--store", "fetch", "-q", "--limit", "3"],
    });
    expect(splitCommand(["--help"]).name).toBeUndefined();
  });
});

describe("a count", () => {
  test("a count must be a whole number from 1 to the maximum", () => {
    const bounds = { otherwise: 50, max: 1_000 };
    expect(parseCountOption("limit", undefined, bounds)).toBe(50);
    expect(parseCountOption("limit", "1000", bounds)).toBe(1_000);
    for (const text of ["0", "-1", "1.5", "1001", "many", "1e2", " 3"]) {
      expect(() => parseCountOption("limit", text, bounds)).toThrow("expected a whole number from 1 to 1000");
    }
  });
});
