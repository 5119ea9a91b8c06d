// Reports one line of the Test Anything Protocol per test, whatever the release of Node; files are no tests.
export default async function* tap(events) {
  for await (const { type, data } of events) {
    if ((type !== "test:pass" && type !== "test:fail") || data.details?.type === "suite" || /\.m?js$/.test(data.name)) {
      continue;
    }
    if (type === "test:pass") {
      yield `ok - ${data.name}${data.skip !== undefined ? ` # skip ${data.skip}` : ""}\n`;
    } else {
      const error = data.details.error?.cause ?? data.details.error;
      yield `not ok - ${data.name}\n${String(error?.stack ?? error).replace(/^/gm, "# ")}\n`;
    }
  }
}
