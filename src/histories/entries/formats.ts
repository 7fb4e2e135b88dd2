export {
  createExportedSession,
  exportSession,
  FORMATS,
  type Format,
  findSources,
  type ImportReport,
  importSources,
  surveySources,
  WRITERS,
  type Writer,
  watchSources,
} from "../index.ts";
