// Stands in for "@modelcontextprotocol/server/_shims" in the bundle. The package's own shim for Node loads Ajv, 300 kB
// that every start of the server would pay for, to check answers to elicitations, which the server never sends as
// requests of its own.
export { default as process } from "node:process";
export { CfWorkerJsonSchemaValidator as DefaultJsonSchemaValidator } from "@modelcontextprotocol/server/validators/cf-worker";
