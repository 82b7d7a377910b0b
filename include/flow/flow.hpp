// All of flow but <flow/asio.hpp> (steps that are Asio coroutines).
#pragma once

#include "flow/as_outcome.hpp"
#include "flow/attempt.hpp"
#include "flow/client.hpp"
#include "flow/command_line.hpp"
#include "flow/engine.hpp"
#include "flow/error.hpp"
#include "flow/groups.hpp"
#include "flow/inspect.hpp"
#include "flow/shield.hpp"
#include "flow/sleep.hpp"
#include "flow/status.hpp"
#include "flow/step.hpp"
#include "flow/stores.hpp"
#include "flow/token.hpp"
#include "flow/values.hpp"
#include "flow/workflow.hpp"
