/** Id of the session in the store of the sample; the dashboard asks `/api/v1/sample` about it. */
export const SAMPLE_SESSION = "longhaul-sample";
