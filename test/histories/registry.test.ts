import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { FORMATS } from "../../src/histories/formats.ts";
import { formatResumeCommand } from "../../src/model/resume-command.ts";

const APIS = ["anthropic", "openai-chat", "openai-responses", "ai-sdk"];
const page = readFileSync(new URL("../../docs/formats.md", import.meta.url), "utf8");
const rows = new Map(
  page
    .split("\n")
    .filter((line) => /^\| `[\w-]+` \|/.test(line) && line.split("|").length === 10)
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
    .map(([name = "", ...cells]) => [name.replaceAll("`", ""), cells] as const),
);
const agents = FORMATS.filter(({ name }) => !APIS.includes(name));
const system = { home: "/people/one", platform: "linux", env: {} } as const;

describe("the registry of histories", () => {
  test("the registry of histories has a row for every supported agent and for no other", () => {
    expect([...rows.keys()].sort()).toEqual(agents.map(({ name }) => name).sort());
    expect(rows.size).toBeGreaterThanOrEqual(30);
    for (const cells of rows.values()) for (const cell of cells.slice(0, 6)) expect(cell).not.toBe("");
  });

  test.each(agents.map((format) => [format.name, format] as const))(
    "the registry of histories knows the folder of %s",
    (name, format) => {
      const [, place = ""] = rows.get(name) ?? [];
      const homes = format.homes(system);
      const isEditor = homes.some((path) => path.includes("globalStorage")) || homes.length === 0;
      const named = homes.some((path) => place.includes(path.replace("/people/one", "~")));
      expect(
        named || isEditor || /project/.test(place) || homes.every((path) => path.endsWith(".aider")),
      ).toBe(true);
    },
  );

  test.each(agents.map((format) => [format.name, format] as const))(
    "the registry of histories says how long %s keeps its conversations",
    async (name, format) => {
      const rule = (await format.retention?.(system))?.rule ?? "kept until you delete them";
      expect(rows.get(name)?.[5]).toBe(rule);
    },
  );

  test.each(agents.map(({ name }) => name))(
    "the registry of histories knows the command that resumes %s",
    (name) => {
      const command = formatResumeCommand(name, "0198f0aa-1111", undefined);
      expect(rows.get(name)?.[6]).toBe(
        command === undefined ? "" : `\`${command.replace("0198f0aa-1111", "ID")}\``,
      );
    },
  );
});
