import { z } from "zod";
import { flagSchema, oneOfSchema } from "./schema-values.ts";

/** When the gateway offers its recall tools to a model. */
const RECALL_MODES = ["off", "after-edit", "always"] as const;

export type RecallMode = (typeof RECALL_MODES)[number];

const FORM = `${RECALL_MODES.join(", ")}, or an object`;
/** JSON Schema of a setting that is one word or an object. */
const WORD_OR_OBJECT = { type: ["object", "string"], pattern: `^(${RECALL_MODES.join("|")})$` };
const WORD_OR_FLAG = { type: ["string", "boolean"], enum: [...RECALL_MODES, true, false] };

/** A mode; earlier configurations have true and false. */
const toolsSchema = () =>
  z.preprocess(
    (given) => (typeof given === "boolean" ? (given ? "always" : "off") : given),
    oneOfSchema(RECALL_MODES).meta(WORD_OR_FLAG),
  );

/** One word sets the tools alone. */
function toRecallObject(given: unknown): unknown {
  return RECALL_MODES.some((mode) => mode === given) ? { tools: given } : given;
}

export const recallSchema = () =>
  z.preprocess(
    toRecallObject,
    z
      .strictObject(
        {
          tools: toolsSchema()
            .default("after-edit")
            .describe("when the model is offered recall tools, which the gateway runs itself"),
          context: flagSchema().default(false).describe("add content that matches the question after it"),
        },
        { error: FORM },
      )
      .meta(WORD_OR_OBJECT),
  );

/** The settings of one route; a missing one is that of all routes. */
export const routeRecallSchema = () =>
  z.preprocess(
    toRecallObject,
    z
      .strictObject(
        { tools: toolsSchema().exactOptional(), context: flagSchema().exactOptional() },
        { error: FORM },
      )
      .meta(WORD_OR_OBJECT),
  );
