-- Sends prebuilt multipart bodies in turn. Arguments: the folder with the bodies (1.body, 2.body, …), their number, and the
-- boundary. Each body has its own client address, so that uploads do not share a quota.
local requests = {}
local next_request = 0

function init(args)
  local folder, count, boundary = args[1], tonumber(args[2]), args[3]
  math.randomseed(os.time())
  for i = 1, count do
    local file = assert(io.open(folder .. "/" .. i .. ".body", "rb"))
    local body = file:read("*a")
    file:close()
    requests[i] = wrk.format("POST", nil, {
      ["Content-Type"] = "multipart/form-data; boundary=" .. boundary,
      ["X-Forwarded-For"] = string.format("%d.%d.%d.%d", math.random(11, 99), math.random(0, 255),
        math.random(0, 255), math.random(1, 254)),
    }, body)
  end
end

function request()
  next_request = next_request % #requests + 1
  return requests[next_request]
end
