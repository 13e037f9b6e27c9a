// Makes recorded calls again, where no tests run: what does the project's code answer there?
// Whatever has effects outside of the process is forbidden: in the tests it may be a fake.
(async () => {
  const builtin = (name) => process.getBuiltinModule(name);
  const fs = builtin('fs');
  const vm = builtin('vm');
  const util = builtin('util');
  const { deserialize, serialize } = builtin('v8');
  const { pathToFileURL } = builtin('url');
  const { join } = builtin('path');
  const { text, failure, isData, changesOf, nameOf } = valuesOf(util);
  const { stringify, parse } = JSON;
  const { writeSync } = fs;
  const job = parse(fs.readFileSync(process.argv.at(-1), 'utf8'));
  const out = fs.openSync(job.answers, 'a');
  const limit = Symbol('limit');
  const exit = process.reallyExit.bind(process);
  const isKept = /^(?:PATH|HOME|USER|LOGNAME|SHELL|TZ|TMPDIR|LANG|LC_\w+|XDG_\w+|SystemRoot)$/;
  for (const name of Object.keys(process.env)) if (!isKept.test(name)) delete process.env[name];
  Object.assign(process.env, job.env);
  process.argv.splice(1);
  process.execArgv.splice(0);
  const HOUR_S = 3600;
  for (const [clock, name, added] of [[process, 'uptime', HOUR_S], [globalThis.performance, 'now', 1000 * HOUR_S]]) {
    const kept = clock[name].bind(clock);
    clock[name] = () => kept() + added;
  }
  // A call that tried to have an effect may have caught the error: its answer is not known.
  let hadEffect = false;
  const forbidden = () => {
    hadEffect = true;
    throw new Error('forbidden');
  };
  const forbid = (object, isForbidden) => {
    for (const name of Object.keys(object)) {
      if (typeof object[name] === 'function' && isForbidden.test(name)) object[name] = forbidden;
    }
  };
  const writes = /^(?:write|append|unlink|rm|rename|mkdir|truncate|ftruncate|copy|cp|chmod|fchmod|chown|fchown|lchown|symlink|link|utimes|futimes|lutimes|mkdtemp|createWrite)/;
  for (const name of ['open', 'openSync']) {
    const kept = fs[name];
    const isWriting = (flags) => (typeof flags === 'number' ? (flags & 3) !== 0 : typeof flags === 'string' && /[wa+]/.test(flags));
    fs[name] = (path, flags, ...more) => (isWriting(flags) ? forbidden() : kept(path, flags, ...more));
  }
  forbid(fs, writes);
  forbid(fs.promises, writes);
  forbid(builtin('child_process'), /./);
  forbid(process, /^(?:kill|exit|abort|reallyExit|chdir)$/);
  builtin('net').Socket.prototype.connect = forbidden;
  builtin('module').syncBuiltinESMExports?.();
  const functionOf = (found, name) => {
    const keys = name === '' ? [] : name.split('.');
    for (const start of [found, found.default, found.default?.default]) {
      const owner = keys.slice(0, -1).reduce((above, key) => above?.[key], start);
      const value = keys.length === 0 ? start : owner?.[keys.at(-1)];
      if (typeof value === 'function') return { owner: keys.length > 1 ? owner : found.default, value };
    }
    return undefined;
  };
  const slot = `_${Math.random().toString(36).slice(2)}`;
  const timed = (work) => {
    globalThis[slot] = work;
    try {
      return vm.runInThisContext(`${slot}()`, { timeout: 1000 });
    } finally {
      delete globalThis[slot];
    }
  };
  const ended = (promise) => Promise.race([promise, new Promise((resolve, reject) => { setTimeout(() => reject(limit), 1000); })]);
  const constants = (found) => {
    const isCommon = Object.hasOwn(found, 'module.exports') || typeof found.default === 'object';
    return text(Object.entries(isCommon ? found.default : found).filter(([, value]) => isData(value)));
  };
  const answerOf = async (path, name, args) => {
    hadEffect = false;
    const answer = await answerWithin(path, name, args);
    return hadEffect ? '' : answer;
  };
  const answerWithin = async (path, name, args) => {
    const found = await import(pathToFileURL(join(job.root, path)).href);
    if (args === undefined) return constants(found);
    const target = functionOf(found, name);
    if (target === undefined) return '';
    const before = args.map(text);
    const changes = () => changesOf(args, before);
    const call = /^class\b/.test(Function.prototype.toString.call(target.value)) ? () => Reflect.construct(target.value, args) : () => Reflect.apply(target.value, target.owner, args);
    let answer;
    try {
      answer = timed(call);
    } catch (error) {
      if (error?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return '';
      return failure(error) + changes();
    }
    if (!util.types.isPromise(answer)) return isData(answer) ? text(answer) + changes() : '';
    try {
      const value = await ended(answer);
      return isData(value) ? `resolves ${text(value)}${changes()}` : '';
    } catch (error) {
      return error === limit ? '' : `rejects ${failure(error)}${changes()}`;
    }
  };
  const near = (value) => {
    if (typeof value === 'boolean') return [!value];
    if (typeof value === 'number') {
      const more = Number.isInteger(value) ? [value + 1, value - 1, value + 10, value - 10, value * 10, -value, Math.trunc(value / 2), 0, 1] : [value + 1, value - 1, -value, value * 10, value / 2, 0];
      return more.filter((each) => !Object.is(each, value));
    }
    if (typeof value === 'string') return /[/\\]/.test(value) ? [] : [value.slice(0, -1), value.slice(1), value + value, value.toUpperCase(), value.toLowerCase(), `${value} `, ''];
    if (Array.isArray(value)) {
      const changed = value.slice(0, 3).flatMap((item, at) => near(item).slice(0, 3).map((each) => value.with?.(at, each) ?? [...value.slice(0, at), each, ...value.slice(at + 1)]));
      return [value.slice(0, -1), value.slice(1), [...value].reverse(), [...value, ...value], [], ...changed];
    }
    if (value !== null && typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype) {
      return Object.keys(value).slice(0, 3).flatMap((key) => {
        const { [key]: old, ...rest } = value;
        return [rest, ...near(old).slice(0, 3).map((each) => ({ ...value, [key]: each }))];
      });
    }
    return [];
  };
  const shown = (path, name, args) => `${nameOf(path, name)}(${args.map(text).join(', ')})`;
  const write = (line) => {
    if (line.answer !== '') writeSync(out, `${stringify(line)}\n`);
  };
  const known = new Set();
  const queues = [];
  for (const [at, again] of job.calls.entries()) {
    const { path, name, args } = parse(again);
    const given = args === undefined ? undefined : deserialize(Buffer.from(args, 'base64'));
    if (given !== undefined) {
      known.add(shown(path, name, given));
      queues.push(given.flatMap((value, place) => near(value).map((each) => ({ path, name, args: given.map((old, other) => (other === place ? each : old)) }))).map((each) => serialize(each)));
    }
    try {
      write({ at, answer: await answerOf(path, name, given) });
    } catch {
      // The module cannot be loaded outside of the tests.
    }
  }
  let left = job.neighbors;
  for (let round = 0; left > 0 && queues.some((queue) => queue.length > round); round += 1) {
    for (const queue of queues.filter((one) => one.length > round)) {
      const { path, name, args } = deserialize(queue[round]);
      const call = shown(path, name, args);
      if (left > 0 && !known.has(call)) {
        known.add(call);
        left -= 1;
        write({ call, answer: await answerOf(path, name, args).catch(() => '') });
      }
    }
  }
  exit(0);
})();
