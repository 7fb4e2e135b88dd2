import { describe, expect, test } from "vitest";
import { isLonghaulError } from "../../../src/model/errors.ts";
import { createModelCatalog } from "../../../src/window/models/model-catalog.ts";
import { findModelSettings, type ModelTable } from "../../../src/window/models/model-settings.ts";

describe("findModelSettings", () => {
  const table: ModelTable = {
    "*": { threshold: 80, policy: "longhaul" },
    "claude-*": { threshold: 50, window: 150_000 },
    "claude-opus-4-5": { window: 180_000 },
    "openrouter/*": { maxOutput: 4_000 },
  };

  test("findModelSettings takes each field from the longest key that sets it", () => {
    expect(findModelSettings("claude-opus-4-5", table)).toEqual({
      threshold: 50,
      policy: "longhaul",
      window: 180_000,
    });
    expect(findModelSettings("gpt-5", table)).toEqual({ threshold: 80, policy: "longhaul" });
  });

  test("findModelSettings matches an id both as given and as its maker writes it", () => {
    expect(findModelSettings("openrouter/anthropic/claude-opus-4.5", table)).toMatchObject({
      window: 180_000,
      maxOutput: 4_000,
    });
  });

  test("findModelSettings finds nothing in an empty table", () => {
    expect(findModelSettings("gpt-5", {})).toEqual({});
  });
});

describe("a model catalogue", () => {
  test("a model catalogue warns once for each unknown model", () => {
    const warnings: string[] = [];
    const { getFacts: factsOf } = createModelCatalog({ onWarning: (text) => warnings.push(text) });
    for (const id of ["mine-1", "mine-2", "mine-1", "gpt-5", "mine-2"]) factsOf(id);
    expect(warnings).toEqual([expect.stringContaining('"mine-1"'), expect.stringContaining('"mine-2"')]);
  });

  test("a model catalogue does not warn of a model whose window is set", () => {
    const warnings: string[] = [];
    const models = { "mine-*": { window: 32_000, prices: { input: 1, output: 2 } } };
    const { getFacts: factsOf } = createModelCatalog({ models, onWarning: (text) => warnings.push(text) });
    expect(factsOf("mine-1")).toMatchObject({
      window: 32_000,
      prices: { input: 1, cacheRead: 1, output: 2 },
    });
    expect(factsOf("mine-1").isWindowAssumed).toBeUndefined();
    expect(warnings).toEqual([]);
  });

  test("a model catalogue looks up a model once, however often it is used", () => {
    const asked: string[] = [];
    const catalogue = (id: string) => {
      asked.push(id);
      return undefined;
    };
    const { getFacts: factsOf } = createModelCatalog({ catalogue });
    for (let call = 0; call < 100; call++) factsOf("x");
    expect(asked).toEqual(["x"]);
  });

  test("a model catalogue returns the settings of a model", () => {
    const { getSettings: settingsOf } = createModelCatalog({
      models: { "gpt-*": { policy: "roo", threshold: 50 } },
    });
    expect(settingsOf("gpt-5")).toEqual({ policy: "roo", threshold: 50 });
  });

  test.each<readonly [string, ModelTable]>([
    ["models", { "claude-*-5": {} }],
    ['models["x"].window', { x: { window: 0 } }],
    ['models["x"].maxOutput', { x: { maxOutput: 1.5 } }],
    ['models["x"].threshold', { x: { threshold: 101 } }],
    ['models["x"].prices.input', { x: { prices: { input: -1 } } }],
  ])("a model catalogue refuses a wrong %s at once", (option, models) => {
    expect(() => createModelCatalog({ models })).toThrow(
      expect.toSatisfy(
        (error) => isLonghaulError(error, "ARGUMENT_INVALID") && error.details.option === option,
      ),
    );
  });
});
