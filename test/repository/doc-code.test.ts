import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fencesOf } from "../support/docs/fences.ts";
import { readPages } from "../support/docs/pages.ts";
import { fileOf, peersOf, programsOf } from "../support/docs/programs.ts";
import { createProject, runFile } from "../support/docs/run-program.ts";
import { compile, installDeclarations } from "../support/docs/type-check.ts";
import { testFolder } from "../support/folder.ts";
import { proofCases, proofTest, sizedTest } from "../support/proof.ts";

const programs = readPages().flatMap(programsOf);

/** Programs that are type-checked but not run, with the reason. */
const NOT_RUN: Readonly<Record<string, string>> = {
  "docs/integrations.md 1": "calls a model",
  "docs/integrations.md 2": "needs the AI SDK and calls a model",
  "docs/integrations.md 3": "needs the AI SDK and calls a model",
  "docs/integrations.md 5": "needs LangChain; test/adapters runs the same",
  "docs/integrations.md 6": "needs the Agents SDK; test/adapters runs the same",
  "docs/integrations.md 8": "calls a model",
  "docs/memory.md 2": "needs the AI SDK and calls a model",
};

/** Compiler options for the programs of the pages: stricter than most projects. */
const OPTIONS = {
  target: "es2024",
  module: "nodenext",
  strict: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: false,
  noEmit: true,
  typeRoots: ["./plain/node_modules/@types"],
  types: ["node"],
};

describe("the code of the pages", () => {
  test("each program of code blocks on the pages imports longhaul", () => {
    expect(programs.length).toBeGreaterThan(10);
    expect(programs.filter(({ code }) => !/from "longhaul/.test(code)).map(({ name }) => name)).toEqual([]);
  });

  test("a continued code block says so on the page", () => {
    const blocks = readPages().flatMap((page) =>
      fencesOf(page)
        .filter(({ language, code }) => language === "ts" && !/from "longhaul/.test(code))
        .map(({ code }) => ({ page: page.path, code })),
    );
    expect(blocks.length).toBeGreaterThan(10);
    expect(blocks.filter(({ code }) => !code.startsWith("// continues the program above\n"))).toEqual([]);
  });

  proofTest(
    "the code of the pages compiles, without optional packages unless the page names them for installation",
    () => {
      const folder = testFolder();
      const peers = [...new Set(programs.flatMap(peersOf))];
      installDeclarations(join(folder, "plain"));
      installDeclarations(join(folder, "peers"), [...peers, "@ai-sdk/provider"]);
      for (const program of programs) {
        const needed = peersOf(program);
        const unnamed = needed.filter((name) => !program.page.text.includes(name));
        expect(unnamed, `${program.name} names the packages to install`).toEqual([]);
        const file = join(folder, needed.length > 0 ? "peers" : "plain", fileOf(program));
        writeFileSync(file, `${program.code}\nexport {};\n`);
      }
      const files = ["plain/*.ts", "peers/*.ts"];
      writeFileSync(
        join(folder, "tsconfig.json"),
        JSON.stringify({ compilerOptions: OPTIONS, include: files }),
      );
      expect(compile(folder, ["-p", "."])).toEqual([]);
    },
  );

  test("every reason not to run a program belongs to a program of the pages", () => {
    const names = programs.map(({ name }) => name);
    expect(Object.keys(NOT_RUN).filter((name) => !names.includes(name))).toEqual([]);
  });

  const runnable = programs.filter(({ name }) => NOT_RUN[name] === undefined);
  sizedTest.each(proofCases(runnable, 3))("$name runs offline", (program) => {
    const folder = createProject(testFolder());
    writeFileSync(join(folder, fileOf(program)), program.code);
    const { exitCode, stderr } = runFile(folder, fileOf(program));
    expect(stderr).toBe("");
    expect(exitCode).toBe(0);
  });
});

describe("the first example of the README", () => {
  test("the first example of the README is plain JavaScript for Node 22.13, without `using`", () => {
    expect(programs[0]?.code).not.toMatch(/\busing\b/);
  });

  test("the first example of the README runs twice on one store, and finds its first message both times", () => {
    const folder = createProject(testFolder());
    writeFileSync(join(folder, "readme.mjs"), programs[0]?.code ?? "");
    expect(runFile(folder, "readme.mjs")).toMatchObject({
      stdout: "1 messages for the model, ticket-4711#1 recalled",
    });
    expect(runFile(folder, "readme.mjs").stdout).toMatch(
      /^2 messages for the model, ticket-4711#\d recalled$/,
    );
  });
});

describe("the default settings of the compiler", () => {
  proofTest("the default compiler settings accept an import of openKernel without the AI SDK", () => {
    const code = 'import { openKernel } from "longhaul";\n\nexport const kernel = await openKernel();\n';
    expect(compileByDefault(code)).toEqual([]);
  });

  proofTest("the default compiler settings accept all entries but longhaul/ai without the AI SDK", () => {
    const entries = ["window", "task", "sqlite", "testing", "formats", "gateway", "fit"];
    const code = entries.map((entry) => `export * as ${entry} from "longhaul/${entry}";\n`);
    expect(compileByDefault(code.join(""))).toEqual([]);
  });
});

/** Errors of a program in a project without a configuration. */
function compileByDefault(code: string): readonly string[] {
  const folder = testFolder();
  installDeclarations(folder);
  writeFileSync(join(folder, "use.ts"), code);
  return compile(folder, ["--noEmit", "use.ts"]);
}
