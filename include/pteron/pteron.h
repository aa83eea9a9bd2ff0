// Everything an application needs.
//
//   #include <pteron/pteron.h>
//
//   auto module = pteron::Module::load("model.pte");
//   auto outputs = module->forward(tensor);
//
// Whoever writes kernels includes pteron/kernel.h as well; whoever writes a backend, pteron/c/backend.h.
#pragma once

#include "pteron/bundle.h"
#include "pteron/dtype.h"
#include "pteron/method.h"
#include "pteron/module.h"
#include "pteron/plan.h"
#include "pteron/program.h"
#include "pteron/result.h"
#include "pteron/runtime.h"
#include "pteron/tensor.h"
#include "pteron/value.h"
