DROP INDEX "payments"."wallets_clearing";--> statement-breakpoint
ALTER TABLE "payments"."wallets" DROP COLUMN "clear_requested_at";--> statement-breakpoint
ALTER TABLE "payments"."wallets" DROP COLUMN "clear_reason";