// Values as texts that are equal where the values are, and whether a value is data through and
// through: nothing that could be called, no object of a class.
// No code of the project decides how a value looks. Every line ends a statement or opens a block:
// the file becomes one line of a test file.
const valuesOf = (util) => {
  const { inspect, types } = util;
  const shape = Object.prototype.toString;
  const prototypeOf = Object.getPrototypeOf;
  const names = Object.getOwnPropertyNames;
  const descriptor = Object.getOwnPropertyDescriptor;
  const settings = {
    customInspect: false,
    showProxy: true,
    depth: 5,
    sorted: true,
    maxArrayLength: 60,
    maxStringLength: 600,
    breakLength: Infinity,
    compact: true,
  };
  const text = (value) => {
    try {
      const shown = inspect(value, settings).replace(/\s*\n\s*/g, ' ').replace(/Proxy \[ (.*?), \{ get: \[Function: get\] \} \]/g, '$1');
      return shown.length > 800 ? `${shown.slice(0, 800)}... (${shown.length})` : shown;
    } catch {
      return `<${typeof value}>`;
    }
  };
  const failure = (error) => {
    if (!types.isNativeError(error)) return `throws ${text(error)}`;
    const message = descriptor(error, 'message')?.value ?? '';
    return `throws ${String(descriptor(prototypeOf(error), 'name')?.value ?? error.constructor?.name)}(${text(message)})`;
  };
  const isData = (value, own = { bare: (each) => each, isShown: () => false }, depth = 8) => {
    const inner = (each) => isData(own.bare(each), own, depth - 1);
    if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return typeof value !== 'symbol';
    if (typeof value === 'function' || depth === 0 || types.isProxy(value)) return false;
    if (types.isDate(value) || types.isRegExp(value) || types.isAnyArrayBuffer(value) || ArrayBuffer.isView(value)) return true;
    if (types.isMap(value)) return [...value].every((pair) => inner(pair[0]) && inner(pair[1]));
    if (types.isSet(value)) return [...value].every((each) => inner(each));
    const above = prototypeOf(value);
    const isPlain = Array.isArray(value) || above === null || (prototypeOf(above) === null && shape.call(value) === '[object Object]') || own.isShown(value);
    return isPlain && names(value).every((name) => {
      const found = descriptor(value, name);
      return 'value' in found && inner(found.value);
    });
  };
  const changesOf = (args, before) => args.map((each, at) => (text(each) === before[at] ? '' : `; ${at + 1}: ${text(each)}`)).join('');
  const nameOf = (path, name) => name.replace(/^default\./, '') || path;
  return { text, failure, isData, changesOf, nameOf };
};
