-- GETs paths in random order. Argument: a file with one path per line.
local requests = {}

function init(args)
  for path in io.lines(args[1]) do
    requests[#requests + 1] = wrk.format("GET", path)
  end
  math.randomseed(os.time())
end

function request()
  return requests[math.random(#requests)]
end
