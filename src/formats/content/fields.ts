export * from "../../wire/fields.ts";
