import { buildOutgoingBody } from "../outgoing/outgoing-body.ts";
import { BodyError, cutBody } from "../request/cut-body.ts";

/** A body with another model name and no other change; undefined if the field cannot be located. */
export function replaceModel(body: Buffer, model: string | undefined): readonly Uint8Array[] | undefined {
  try {
    return buildOutgoingBody(
      { cut: cutBody(body, "") },
      { pieces: undefined, fields: new Map([["model", model]]) },
    );
  } catch (error) {
    if (error instanceof BodyError) return undefined;
    throw error;
  }
}
